//! An OCI image (<https://github.com/opencontainers/image-spec/blob/v1.1.0/image-layout.md>) made of files, without a daemon: one
//! layer with the binary, and the folders that jtrace writes to.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use super::{VERSION, folder};
use crate::process;

const LAYER: &str = "application/vnd.oci.image.layer.v1.tar+gzip";
const CONFIGURATION: &str = "application/vnd.oci.image.config.v1+json";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";

/// All that lies in the image besides the binary: the journal's place, and where reports are written without a name.
const FOLDERS: [&str; 3] = ["run", "tmp", "usr/bin"];

/// Makes `target/package/jtrace-VERSION.oci.tar`.
pub(super) fn build(binary: &Path) -> Result<PathBuf> {
    let stage = folder().join("image");
    if stage.exists() {
        fs::remove_dir_all(&stage).with_context(|| format!("cannot clear {}", stage.display()))?;
    }
    let (root, layout) = (stage.join("root"), stage.join("layout"));
    for name in FOLDERS {
        fs::create_dir_all(root.join(name))?;
    }
    fs::create_dir_all(layout.join("blobs/sha256"))?;
    fs::copy(binary, root.join("usr/bin/jtrace")).context("cannot copy the binary")?;
    let layer = stage.join("layer.tar");
    pack(&root, &layer)?;
    let unpacked = digest(&layer)?;
    process::run(process::command("gzip").args(["-9n"]).arg(&layer))?;
    let layer = add(&layout, &stage.join("layer.tar.gz"), LAYER)?;
    let configuration = add_text(&layout, &stage, &configuration(&unpacked), CONFIGURATION)?;
    let manifest = json!({"schemaVersion": 2, "mediaType": MANIFEST, "config": configuration, "layers": [layer]});
    let mut manifest = add_text(&layout, &stage, &manifest, MANIFEST)?;
    manifest["annotations"] = json!({"org.opencontainers.image.ref.name": VERSION});
    let index = json!({"schemaVersion": 2, "manifests": [manifest]});
    fs::write(layout.join("index.json"), index.to_string())?;
    fs::write(layout.join("oci-layout"), json!({"imageLayoutVersion": "1.0.0"}).to_string())?;
    let image = folder().join(format!("jtrace-{VERSION}.oci.tar"));
    pack(&layout, &image)?;
    println!("package: {} ({} KiB)", image.display(), fs::metadata(&image)?.len() / 1024);
    Ok(image)
}

/// Unpacks the layer of an image into a folder, by what its index says.
pub(super) fn unpack(image: &Path, into: &Path) -> Result<()> {
    let layout = into.join("layout");
    fs::create_dir_all(&layout)?;
    process::run(process::command("tar").arg("-xf").arg(image).arg("-C").arg(&layout))?;
    let read = |path: PathBuf| -> Result<Value> { Ok(serde_json::from_slice(&fs::read(path)?)?) };
    let blob = |of: &Value| -> Result<PathBuf> {
        let digest = of["digest"].as_str().and_then(|digest| digest.strip_prefix("sha256:")).context("no digest")?;
        let path = layout.join("blobs/sha256").join(digest);
        ensure!(self::digest(&path)? == digest, "{} is not what its name says", path.display());
        ensure!(Some(fs::metadata(&path)?.len()) == of["size"].as_u64(), "{} has another size", path.display());
        Ok(path)
    };
    let manifest = read(blob(&read(layout.join("index.json"))?["manifests"][0])?)?;
    let root = into.join("root");
    fs::create_dir_all(&root)?;
    for layer in manifest["layers"].as_array().context("no layers")? {
        process::run(process::command("tar").arg("-xzf").arg(blob(layer)?).arg("-C").arg(&root))?;
    }
    Ok(())
}

fn configuration(layer: &str) -> Value {
    json!({
        "architecture": "amd64",
        "os": "linux",
        "config": {"Entrypoint": ["/usr/bin/jtrace"], "Env": ["PATH=/usr/bin"], "WorkingDir": "/tmp"},
        "rootfs": {"type": "layers", "diff_ids": [format!("sha256:{layer}")]},
    })
}

/// A folder as an archive, the same bytes each time.
fn pack(from: &Path, to: &Path) -> Result<()> {
    let mut tar = process::command("tar");
    tar.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mtime=@0", "-cf"]);
    process::run(tar.arg(to).arg("-C").arg(from).arg("."))
}

fn digest(path: &Path) -> Result<String> {
    let line = process::output(process::command("sha256sum").arg(path))?;
    Ok(line.split_whitespace().next().context("no digest")?.trim_start_matches('\\').to_owned())
}

/// Puts a file among the blobs; gives its descriptor.
fn add(layout: &Path, file: &Path, kind: &str) -> Result<Value> {
    let (digest, size) = (digest(file)?, fs::metadata(file)?.len());
    fs::copy(file, layout.join("blobs/sha256").join(&digest))?;
    Ok(json!({"mediaType": kind, "digest": format!("sha256:{digest}"), "size": size}))
}

fn add_text(layout: &Path, stage: &Path, text: &Value, kind: &str) -> Result<Value> {
    let file = stage.join("text.json");
    fs::write(&file, text.to_string())?;
    add(layout, &file, kind)
}
