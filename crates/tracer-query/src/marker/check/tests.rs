//! What markers would match, in class files that are made here.

use std::{fs, io::Write as _, path::Path};

use super::*;
use crate::marker::class_path::Error;

const NATIVE: u16 = 0x0100;

/// A class file of Java 8 whose methods only return.
fn class_file(name: &str, superclass: &str, methods: &[(&str, &str, u16)]) -> Vec<u8> {
    let mut pool: Vec<Vec<u8>> = Vec::new();
    let mut utf8 = |text: &str| {
        let mut entry = vec![1];
        entry.extend(u16::try_from(text.len()).unwrap().to_be_bytes());
        entry.extend(text.as_bytes());
        pool.push(entry);
        u16::try_from(pool.len()).unwrap()
    };
    let (name, superclass, code) = (utf8(name), utf8(superclass), utf8("Code"));
    let methods: Vec<(u16, u16, u16)> =
        methods.iter().map(|(name, descriptor, access)| (utf8(name), utf8(descriptor), *access)).collect();
    for class in [name, superclass] {
        pool.push([&[7][..], &class.to_be_bytes()].concat());
    }
    let last = u16::try_from(pool.len()).unwrap();
    let mut bytes = [0xcafe_babe_u32.to_be_bytes(), 52_u32.to_be_bytes()].concat();
    let put =
        |bytes: &mut Vec<u8>, numbers: &[u16]| bytes.extend(numbers.iter().flat_map(|number| number.to_be_bytes()));
    put(&mut bytes, &[last + 1]);
    bytes.extend(pool.concat());
    put(&mut bytes, &[0x21, last - 1, last, 0, 0, u16::try_from(methods.len()).unwrap()]);
    for (name, descriptor, access) in methods {
        if access & NATIVE != 0 {
            put(&mut bytes, &[access, name, descriptor, 0]);
            continue;
        }
        put(&mut bytes, &[access, name, descriptor, 1, code, 0, 13, 1, 4, 0, 1]);
        bytes.push(0xb1);
        put(&mut bytes, &[0, 0]);
    }
    put(&mut bytes, &[0]);
    bytes
}

/// A shop: a cart, one below it, and an order.
fn shop() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        (
            "com/shop/Cart.class",
            class_file(
                "com/shop/Cart",
                "java/lang/Object",
                &[("checkout", "(I)V", 1), ("checkout", "(J)V", 1), ("clear", "()V", 1), ("peek", "()V", NATIVE)],
            ),
        ),
        ("com/shop/GiftCart.class", class_file("com/shop/GiftCart", "com/shop/Cart", &[("checkout", "(I)V", 1)])),
        ("com/shop/Order.class", class_file("com/shop/Order", "java/lang/Object", &[("send", "()V", 1)])),
    ]
}

fn folder(files: &[(&str, Vec<u8>)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    folder
}

/// A jar without compression.
fn jar(files: &[(&str, Vec<u8>)], path: &Path) {
    let mut bytes: Vec<u8> = Vec::new();
    let mut directory: Vec<u8> = Vec::new();
    for (name, content) in files {
        let mut crc = flate2::Crc::new();
        crc.update(content);
        let (name_bytes, size) = (u16::try_from(name.len()).unwrap(), u32::try_from(content.len()).unwrap());
        let offset = u32::try_from(bytes.len()).unwrap();
        let common = [
            &20_u16.to_le_bytes()[..],
            &[0; 8],
            &crc.sum().to_le_bytes(),
            &size.to_le_bytes(),
            &size.to_le_bytes(),
            &name_bytes.to_le_bytes(),
            &[0; 2],
        ]
        .concat();
        bytes.extend([b"PK\x03\x04", &common[..], name.as_bytes(), content].concat());
        directory.extend(
            [b"PK\x01\x02", &20_u16.to_le_bytes()[..], &common, &[0; 10], &offset.to_le_bytes(), name.as_bytes()]
                .concat(),
        );
    }
    let count = u16::try_from(files.len()).unwrap().to_le_bytes();
    let (at, size) = (u32::try_from(bytes.len()).unwrap(), u32::try_from(directory.len()).unwrap());
    let end = [b"PK\x05\x06", &[0; 4][..], &count, &count, &size.to_le_bytes(), &at.to_le_bytes(), &[0; 2]].concat();
    fs::File::create(path).unwrap().write_all(&[bytes, directory, end].concat()).unwrap();
}

fn check(markers: &[&str], path: &Path) -> Check {
    let markers: Vec<String> = markers.iter().map(|text| (*text).to_owned()).collect();
    let spec = Spec::read(None, &markers, &[]).unwrap_or_else(|error| panic!("{}", error.render()));
    Check::of(&spec, &ClassPath::read(&[path.to_owned()]).unwrap())
}

#[test]
fn counts_are_those_of_the_classes_in_folders_and_in_jars() {
    let folder = folder(&shop());
    let file = folder.path().join("shop.jar");
    jar(&shop(), &file);
    for path in [folder.path().join("com"), file] {
        let check =
            check(&["com.shop.*::checkout", "c=com.shop.Cart::checkout(int)", "b=com.shop.Order::*@block"], &path);
        let counts: Vec<_> = check.markers.iter().map(|of| (of.classes, of.methods, of.place_count)).collect();
        assert_eq!(counts, [(2, 3, 3), (1, 1, 1), (1, 1, 1)], "{}", path.display());
        assert_eq!((check.methods, check.classes, check.is_sound()), (4, 3, true));
        let places: BTreeSet<u32> =
            check.markers.iter().flat_map(|of| of.places.iter().map(|place| place.id)).collect();
        assert_eq!(places.len(), 5, "each place has a number of its own");
    }
}

#[test]
fn classes_below_are_meant_where_that_is_said() {
    let folder = folder(&shop());
    for (marker, expected) in [("com.shop.Cart::checkout", 2), ("com.shop.Cart::checkout+subclasses", 3)] {
        assert_eq!(check(&[marker], folder.path()).markers[0].place_count, expected, "{marker}");
    }
}

#[test]
fn what_matches_nothing_gets_the_nearest_names() {
    let folder = folder(&shop());
    let nearest = |marker: &str| check(&[marker], folder.path()).markers.remove(0).nearest;
    assert_eq!(nearest("com.shop.Crat::checkout"), ["com.shop.Cart"]);
    assert_eq!(nearest("org.shop.Order::send"), ["com.shop.Order"]);
    assert_eq!(nearest("com.shop.Cart::chekcout"), ["com.shop.Cart::checkout"]);
    assert_eq!(nearest("com.shop.Cart::clear(int)"), ["com.shop.Cart::clear()V"]);
    assert_eq!(nearest("org.example.Unlike::anything"), Vec::<String>::new());
    assert!(!check(&["com.shop.Crat::checkout"], folder.path()).is_sound());
}

#[test]
fn what_has_no_code_has_no_place() {
    let folder = folder(&shop());
    let check = check(&["com.shop.Cart::peek"], folder.path());
    let peek = &check.markers[0];
    assert_eq!((peek.methods, peek.place_count, check.is_sound()), (1, 0, false));
}

#[test]
fn what_is_no_class_is_left_out_and_said() {
    let mut files = shop();
    files.push(("com/shop/Bad.class", b"\xca\xfe\xba\xbe\0\0\0\x34\xff\xff".to_vec()));
    files.push(("com/shop/Empty.class", Vec::new()));
    files.push(("copy/Cart.class", files[0].1.clone()));
    let folder = folder(&files);
    let classes = ClassPath::read(&[folder.path().to_owned()]).unwrap();
    let left: Vec<&str> = classes.left.iter().filter_map(|left| left.what.rsplit('/').next()).collect();
    assert_eq!((classes.classes.len(), left), (3, vec!["Bad.class", "Empty.class", "Cart.class"]));
}

#[test]
fn paths_without_classes_are_errors() {
    let folder = folder(&[("readme.txt", b"PK\x03\x04".to_vec())]);
    let read = |name: &str| ClassPath::read(&[folder.path().join(name)]).unwrap_err();
    assert!(matches!(read(""), Error::Empty(_)));
    assert!(matches!(read("readme.txt"), Error::NoJar { .. }));
    assert!(matches!(read("missing.jar"), Error::Io { .. }));
}

#[test]
fn letters_are_counted() {
    for (one, other, expected) in
        [("", "", 0), ("", "abc", 3), ("abc", "", 3), ("kitten", "sitting", 3), ("ab", "ba", 2)]
    {
        assert_eq!(distance(one, other), expected, "{one} {other}");
    }
}
