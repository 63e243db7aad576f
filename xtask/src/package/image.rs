//! An OCI image (<https://github.com/opencontainers/image-spec/blob/v1.1.0/image-layout.md>) made of files, without a daemon: one
//! layer with the binary, and the folders that jtrace writes to.

pub(super) mod read;

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::{VERSION, folder};
use crate::process;

const LAYER: &str = "application/vnd.oci.image.layer.v1.tar+gzip";
const CONFIGURATION: &str = "application/vnd.oci.image.config.v1+json";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const INDEX: &str = "application/vnd.oci.image.index.v1+json";

/// Where the binary lies in the image.
pub(super) const ENTRY: &str = "/usr/bin/jtrace";

/// All that lies in the image besides the binary, with modes: the journal's place, and where reports are written without a name.
const FOLDERS: [(&str, u32); 5] = [("", 0o755), ("run", 0o755), ("tmp", 0o1777), ("usr", 0o755), ("usr/bin", 0o755)];

/// Makes `target/package/jtrace-VERSION.oci.tar`.
pub(super) fn build(binary: &Path) -> Result<PathBuf> {
    let image = folder().join(format!("jtrace-{VERSION}.oci.tar"));
    write(binary, &folder().join("image"), &image)?;
    println!("package: {} ({} KiB)", image.display(), fs::metadata(&image)?.len() / 1024);
    Ok(image)
}

/// Makes an image of a binary, by way of a folder that is emptied first.
fn write(binary: &Path, stage: &Path, image: &Path) -> Result<()> {
    if stage.exists() {
        fs::remove_dir_all(stage).with_context(|| format!("cannot clear {}", stage.display()))?;
    }
    let (root, layout) = (stage.join("root"), stage.join("layout"));
    for (name, mode) in FOLDERS {
        fs::create_dir_all(root.join(name)).with_context(|| format!("cannot make {name} in {}", root.display()))?;
        fs::set_permissions(root.join(name), fs::Permissions::from_mode(mode))?;
    }
    fs::create_dir_all(layout.join("blobs/sha256"))?;
    let entry = root.join(ENTRY.trim_start_matches('/'));
    fs::copy(binary, &entry).with_context(|| format!("cannot copy {}", binary.display()))?;
    fs::set_permissions(&entry, fs::Permissions::from_mode(0o755))?;
    let layer = stage.join("layer.tar");
    pack(&root, &layer)?;
    let unpacked = digest(&layer)?;
    // Without a name and a time the same bytes give the same bytes.
    process::run(process::command("gzip").arg("-9n").arg(&layer))?;
    let layer = add(&layout, &stage.join("layer.tar.gz"), LAYER)?;
    let configuration = add_text(&layout, stage, &configuration(&unpacked), CONFIGURATION)?;
    let manifest = json!({"schemaVersion": 2, "mediaType": MANIFEST, "config": configuration, "layers": [layer]});
    let mut manifest = add_text(&layout, stage, &manifest, MANIFEST)?;
    manifest["platform"] = json!({"architecture": "amd64", "os": "linux"});
    manifest["annotations"] = json!({"org.opencontainers.image.ref.name": VERSION});
    let index = json!({"schemaVersion": 2, "mediaType": INDEX, "manifests": [manifest]});
    fs::write(layout.join("index.json"), index.to_string())?;
    fs::write(layout.join("oci-layout"), json!({"imageLayoutVersion": "1.0.0"}).to_string())?;
    pack(&layout, image)
}

fn configuration(layer: &str) -> Value {
    json!({
        "architecture": "amd64",
        "os": "linux",
        "config": {"Entrypoint": [ENTRY], "Env": ["PATH=/usr/bin"], "WorkingDir": "/tmp"},
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

/// Puts a file among the blobs; returns its descriptor.
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
