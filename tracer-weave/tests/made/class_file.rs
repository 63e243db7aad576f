//! Writes class files byte by byte.

/// A class file in the making.
#[derive(Default)]
pub(crate) struct Made {
    constants: Vec<u8>,
    pub(crate) count: u16,
    methods: Vec<Vec<u8>>,
}

/// Code of a method.
#[derive(Default)]
pub(crate) struct Code<'a> {
    pub(crate) bytes: &'a [u8],
    /// Start, end, handler.
    pub(crate) handlers: &'a [[u16; 3]],
    /// Name and content.
    pub(crate) attributes: &'a [(&'a str, &'a [u8])],
}

impl Made {
    pub(crate) fn constant(&mut self, bytes: &[&[u8]]) -> u16 {
        self.constants.extend(bytes.concat());
        self.count += 1;
        self.count
    }

    pub(crate) fn text(&mut self, text: &str) -> u16 {
        self.constant(&[&[1], &u16::try_from(text.len()).unwrap().to_be_bytes(), text.as_bytes()])
    }

    pub(crate) fn class(&mut self, name: &str) -> u16 {
        let name = self.text(name);
        self.constant(&[&[7], &name.to_be_bytes()])
    }

    pub(crate) fn callee(&mut self, class: &str, name: &str, descriptor: &str) -> [u8; 2] {
        let (class, name, descriptor) = (self.class(class), self.text(name), self.text(descriptor));
        let name = self.constant(&[&[12], &name.to_be_bytes(), &descriptor.to_be_bytes()]);
        self.constant(&[&[10], &class.to_be_bytes(), &name.to_be_bytes()]).to_be_bytes()
    }

    pub(crate) fn method(&mut self, access: u16, name: &str, descriptor: &str, code: Option<&Code<'_>>) {
        let mut bytes = access.to_be_bytes().to_vec();
        bytes.extend(self.text(name).to_be_bytes());
        bytes.extend(self.text(descriptor).to_be_bytes());
        bytes.extend(u16::from(code.is_some()).to_be_bytes());
        if let Some(code) = code {
            let mut content = vec![0, 4, 0, 4];
            content.extend(u32::try_from(code.bytes.len()).unwrap().to_be_bytes());
            content.extend(code.bytes);
            content.extend(u16::try_from(code.handlers.len()).unwrap().to_be_bytes());
            for handler in code.handlers {
                content.extend(handler.iter().flat_map(|number| number.to_be_bytes()).chain([0, 0]));
            }
            content.extend(u16::try_from(code.attributes.len()).unwrap().to_be_bytes());
            for (name, attribute) in code.attributes {
                content.extend(self.text(name).to_be_bytes());
                content.extend(u32::try_from(attribute.len()).unwrap().to_be_bytes());
                content.extend(*attribute);
            }
            bytes.extend(self.text("Code").to_be_bytes());
            bytes.extend(u32::try_from(content.len()).unwrap().to_be_bytes());
            bytes.extend(content);
        }
        self.methods.push(bytes);
    }

    pub(crate) fn finish(mut self, version: u16) -> Vec<u8> {
        let (this, superclass) = (self.class("a/Made"), self.class("java/lang/Object"));
        let mut bytes = vec![0xCA, 0xFE, 0xBA, 0xBE, 0, 0];
        bytes.extend(version.to_be_bytes());
        bytes.extend((self.count + 1).to_be_bytes());
        bytes.extend(self.constants);
        for number in [0x21, this, superclass, 0, 0, u16::try_from(self.methods.len()).unwrap()] {
            bytes.extend(number.to_be_bytes());
        }
        bytes.extend(self.methods.concat());
        bytes.extend([0, 0]);
        bytes
    }
}

/// A class with a static method `run` of this code.
pub(crate) fn made(version: u16, code: &Code<'_>) -> Vec<u8> {
    let mut class = Made::default();
    class.method(0x9, "run", "()V", Some(code));
    class.finish(version)
}
