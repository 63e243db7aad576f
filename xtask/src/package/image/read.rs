//! Reads an image back as a container runtime does: from its index, by digests alone. It trusts nothing that the other half wrote.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;

use super::{CONFIGURATION, INDEX, LAYER, MANIFEST, digest};
use crate::process;

/// What an image says of itself, once every digest and size in it was found right.
pub(in crate::package) struct Image {
    /// The layers unpacked.
    pub(in crate::package) root: PathBuf,
    /// What is run in there.
    pub(in crate::package) entry: String,
    /// The digest of the manifest, by which registries know the image.
    pub(in crate::package) digest: String,
}

/// Checks an image and unpacks it into a folder.
pub(in crate::package) fn unpack(image: &Path, into: &Path) -> Result<Image> {
    let layout = into.join("layout");
    fs::create_dir_all(&layout).with_context(|| format!("cannot make {}", layout.display()))?;
    process::run(process::command("tar").arg("-xf").arg(image).arg("-C").arg(&layout))?;
    check_layout(&layout, into)
}

fn check_layout(layout: &Path, into: &Path) -> Result<Image> {
    expect(&json(&layout.join("oci-layout"))?["imageLayoutVersion"], "1.0.0")?;
    let index = json(&layout.join("index.json"))?;
    ensure!(index["schemaVersion"] == 2, "the index has the schema {}", index["schemaVersion"]);
    expect(&index["mediaType"], INDEX)?;
    let descriptor = only(&index["manifests"])?;
    let manifest = json(&blob(layout, descriptor, MANIFEST)?)?;
    ensure!(manifest["schemaVersion"] == 2, "the manifest has the schema {}", manifest["schemaVersion"]);
    expect(&manifest["mediaType"], MANIFEST)?;
    let configuration = json(&blob(layout, &manifest["config"], CONFIGURATION)?)?;
    for platform in [&descriptor["platform"], &configuration] {
        expect(&platform["architecture"], "amd64")?;
        expect(&platform["os"], "linux")?;
    }
    let root = into.join("root");
    fs::create_dir_all(&root)?;
    let layer = blob(layout, only(&manifest["layers"])?, LAYER)?;
    // The configuration knows the layer by what it unpacks to.
    let unpacked = into.join("layer.tar");
    fs::write(&unpacked, unpacked_bytes(&layer)?)?;
    expect(only(&configuration["rootfs"]["diff_ids"])?, &format!("sha256:{}", digest(&unpacked)?))?;
    process::run(process::command("tar").arg("-xpf").arg(&unpacked).arg("-C").arg(&root))?;
    fs::remove_file(&unpacked)?;
    let entry = only(&configuration["config"]["Entrypoint"])?.as_str().context("no entry point")?.to_owned();
    ensure!(root.join(entry.trim_start_matches('/')).is_file(), "{entry} is not in the image");
    let digest = descriptor["digest"].as_str().unwrap_or_default().to_owned();
    Ok(Image { root, entry, digest })
}

/// The file that a descriptor names, if it is what the descriptor says.
fn blob(layout: &Path, descriptor: &Value, kind: &str) -> Result<PathBuf> {
    expect(&descriptor["mediaType"], kind)?;
    let wanted =
        descriptor["digest"].as_str().and_then(|digest| digest.strip_prefix("sha256:")).context("no digest")?;
    ensure!(wanted.len() == 64 && wanted.bytes().all(|byte| byte.is_ascii_hexdigit()), "{wanted} is no digest");
    let path = layout.join("blobs/sha256").join(wanted);
    let size = fs::metadata(&path).with_context(|| format!("there is no {}", path.display()))?.len();
    ensure!(Some(size) == descriptor["size"].as_u64(), "{} has {size} bytes", path.display());
    ensure!(digest(&path)? == wanted, "{} is not what its name says", path.display());
    Ok(path)
}

fn json(path: &Path) -> Result<Value> {
    let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_slice(&bytes).with_context(|| format!("{} is no JSON", path.display()))
}

fn expect(value: &Value, wanted: &str) -> Result<()> {
    ensure!(value.as_str() == Some(wanted), "{value} stands in place of {wanted}");
    Ok(())
}

/// The one element of an array.
fn only(value: &Value) -> Result<&Value> {
    match value.as_array().map(Vec::as_slice) {
        Some([one]) => Ok(one),
        _ => bail!("not one element: {value}"),
    }
}

/// What a compressed file holds.
fn unpacked_bytes(path: &Path) -> Result<Vec<u8>> {
    let output = process::command("gzip").arg("-dc").arg(path).output().context("cannot start gzip")?;
    ensure!(output.status.success(), "{} is not compressed by gzip", path.display());
    Ok(output.stdout)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An image of a few bytes, and its layout unpacked.
    fn made(folder: &Path) -> (PathBuf, PathBuf) {
        let (binary, image, layout) = (folder.join("binary"), folder.join("x.oci.tar"), folder.join("again"));
        fs::write(&binary, b"no program").unwrap();
        super::super::write(&binary, &folder.join("stage"), &image).unwrap();
        process::run(process::command("cp").arg("-r").arg(folder.join("stage/layout")).arg(&layout)).unwrap();
        (image, layout)
    }

    #[test]
    fn an_image_is_read_back_with_all_that_was_put_in() {
        let folder = tempfile::tempdir().unwrap();
        let (image, _) = made(folder.path());
        let image = unpack(&image, &folder.path().join("into")).unwrap();
        assert_eq!(image.entry, "/usr/bin/jtrace");
        assert_eq!(fs::read(image.root.join("usr/bin/jtrace")).unwrap(), b"no program");
        assert!(image.root.join("run").is_dir() && image.root.join("tmp").is_dir() && image.digest.len() == 71);
    }

    #[test]
    fn a_changed_blob_and_a_changed_index_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (_, layout) = made(folder.path());
        let into = folder.path().join("into");
        assert!(check_layout(&layout, &into).is_ok());
        let blobs = || fs::read_dir(layout.join("blobs/sha256")).unwrap().map(|entry| entry.unwrap().path());
        assert_eq!(blobs().count(), 3);
        for path in blobs() {
            let bytes = fs::read(&path).unwrap();
            let mut changed = bytes.clone();
            let middle = changed.len() / 2;
            changed[middle] ^= 1;
            fs::write(&path, &changed).unwrap();
            assert!(check_layout(&layout, &into).is_err(), "{}", path.display());
            fs::write(&path, &bytes).unwrap();
        }
        let index = fs::read_to_string(layout.join("index.json")).unwrap();
        for (right, wrong) in [("amd64", "arm64"), ("\"size\":", "\"size\":1"), ("image.index", "image.other")] {
            fs::write(layout.join("index.json"), index.replace(right, wrong)).unwrap();
            assert!(check_layout(&layout, &into).is_err(), "{wrong}");
        }
        fs::write(layout.join("index.json"), index).unwrap();
        assert!(check_layout(&layout, &into).is_ok());
    }
}
