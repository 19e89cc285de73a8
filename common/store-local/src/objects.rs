//! Objects in a folder: written beside, then renamed into place, so that readers see all of an object or nothing.

use std::fs::{self, File, Metadata};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use bytes::Bytes;
use quarry_model::{ObjectKey, ObjectPrefix};
use quarry_ports::{Clock, ObjectError, ObjectMeta, ObjectPage, ObjectStore, PresignedPut, PutCondition, PutOptions};

use crate::signed::{Grant, Signer};
use crate::tags::Tags;
use crate::{LocalError, listing, path};

/// Longest key, in bytes: what S3 allows.
const KEY_MAX: usize = 1_024;
/// Keys that share a lock; a lock is held for one rename.
const LOCKS: u8 = 64;
/// A file being written that is older than this belongs to a process that died.
const ABANDONED: Duration = Duration::from_hours(24);

/// The object port.
#[derive(Clone)]
pub(crate) struct Folder {
    shared: Arc<Shared>,
}

struct Shared {
    root: PathBuf,
    writing: PathBuf,
    locks: PathBuf,
    tags: Tags,
    written: AtomicU64,
    signer: Arc<Signer>,
    clock: Arc<dyn Clock>,
}

impl Folder {
    /// Opens the folder, making it when it is not there, and removes what dead processes left half-written.
    pub(crate) fn open(data: &Path, signer: Arc<Signer>, clock: Arc<dyn Clock>) -> Result<Self, LocalError> {
        let shared = Shared {
            root: data.join("objects"),
            writing: data.join("writing"),
            locks: data.join("locks"),
            tags: Tags::default(),
            written: AtomicU64::new(0),
            signer,
            clock,
        };
        for folder in [&shared.root, &shared.writing, &shared.locks] {
            fs::create_dir_all(folder).map_err(LocalError::file("create", folder))?;
        }
        remove_abandoned(&shared.writing)?;
        Ok(Self { shared: Arc::new(shared) })
    }

    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Shared) -> Result<T, ObjectError> + Send + 'static,
    ) -> Result<T, ObjectError> {
        let shared = Arc::clone(&self.shared);
        tokio::task::spawn_blocking(move || work(&shared)).await.map_err(|_| LocalError::Closed)?
    }
}

#[async_trait]
impl ObjectStore for Folder {
    async fn put(&self, key: &ObjectKey, body: Bytes, options: PutOptions) -> Result<ObjectMeta, ObjectError> {
        let key = checked(key)?;
        self.blocking(move |shared| shared.put(&key, &body, &options.condition)).await
    }

    async fn get(&self, key: &ObjectKey) -> Result<(Bytes, ObjectMeta), ObjectError> {
        let key = checked(key)?;
        self.blocking(move |shared| {
            let (mut file, size) = shared.open(&key)?;
            let body = read_exactly(&mut file, size).map_err(LocalError::file("read", &shared.file(&key)))?;
            let etag = tag(&body);
            Ok((body, ObjectMeta { key, size, etag }))
        })
        .await
    }

    async fn get_range(&self, key: &ObjectKey, range: Range<u64>) -> Result<Bytes, ObjectError> {
        let key = checked(key)?;
        self.blocking(move |shared| {
            let (mut file, size) = shared.open(&key)?;
            if range.start > range.end || range.end > size {
                return Err(ObjectError::Range(key));
            }
            file.seek(SeekFrom::Start(range.start))
                .and_then(|_| read_exactly(&mut file, range.end - range.start))
                .map_err(|source| LocalError::file("read", &shared.file(&key))(source).into())
        })
        .await
    }

    async fn head(&self, key: &ObjectKey) -> Result<ObjectMeta, ObjectError> {
        let key = checked(key)?;
        self.blocking(move |shared| shared.head(&key)).await
    }

    async fn delete(&self, key: &ObjectKey) -> Result<(), ObjectError> {
        let key = checked(key)?;
        self.blocking(move |shared| shared.delete(&key)).await
    }

    async fn list(&self, prefix: &ObjectPrefix, cursor: Option<&str>, limit: usize) -> Result<ObjectPage, ObjectError> {
        let (prefix, cursor) = (prefix.as_str().to_owned(), cursor.map(str::to_owned));
        let limit = limit.clamp(1, 1_000);
        self.blocking(move |shared| {
            let folder = path::folder_of(&shared.root, &prefix);
            let listed = listing::keys(&folder, &prefix, cursor.as_deref(), limit)?;
            let cursor = listed.more.then(|| listed.keys.last().cloned()).flatten();
            let mut objects = Vec::with_capacity(listed.keys.len());
            for key in listed.keys {
                // An object removed while we list is simply not there any more.
                match shared.head(&ObjectKey::from_event(&key)) {
                    Ok(meta) => objects.push(meta),
                    Err(ObjectError::NotFound(_)) => (),
                    Err(error) => return Err(error),
                }
            }
            Ok(ObjectPage { objects, cursor })
        })
        .await
    }

    async fn presign_get(&self, key: &ObjectKey, life: Duration, file_name: Option<&str>) -> Result<String, ObjectError> {
        let grant = Grant::get(checked(key)?, self.ends(life), file_name);
        Ok(self.shared.signer.address(&grant))
    }

    async fn presign_put(&self, key: &ObjectKey, life: Duration, content_type: &str) -> Result<PresignedPut, ObjectError> {
        let grant = Grant::put(checked(key)?, self.ends(life), content_type);
        Ok(PresignedPut {
            url: self.shared.signer.address(&grant),
            headers: vec![("Content-Type".to_owned(), content_type.to_owned())],
            expires_in: life.as_secs(),
        })
    }
}

impl Folder {
    fn ends(&self, life: Duration) -> i64 {
        self.shared.clock.now().seconds().saturating_add_unsigned(life.as_secs())
    }
}

impl Shared {
    fn file(&self, key: &ObjectKey) -> PathBuf {
        path::file_of(&self.root, key.as_str())
    }

    fn put(&self, key: &ObjectKey, body: &[u8], condition: &PutCondition) -> Result<ObjectMeta, ObjectError> {
        let file = self.file(key);
        let etag = tag(body);
        let (beside, written) = self.write_beside(body)?;
        let outcome = self.move_into_place(key, &beside, &file, condition);
        if outcome.is_err() {
            remove_file(&beside)?;
        }
        outcome?;
        self.tags.remember(&file, &written, &etag);
        Ok(ObjectMeta { key: key.clone(), size: body.len() as u64, etag })
    }

    fn move_into_place(&self, key: &ObjectKey, beside: &Path, file: &Path, condition: &PutCondition) -> Result<(), ObjectError> {
        // Between the look and the rename nobody else may change the object, in this process or another.
        let _held = self.lock(key)?;
        let holds = match condition {
            PutCondition::Always => true,
            PutCondition::IfAbsent => !file.try_exists().map_err(LocalError::file("look at", file))?,
            PutCondition::IfMatch(expected) => match self.tag_now(key) {
                Ok(found) => found == *expected,
                Err(ObjectError::NotFound(_)) => false,
                Err(error) => return Err(error),
            },
        };
        if !holds {
            return Err(ObjectError::Precondition(key.clone()));
        }
        Ok(rename_into(beside, file)?)
    }

    fn write_beside(&self, body: &[u8]) -> Result<(PathBuf, Metadata), LocalError> {
        let name = format!("{}-{}", std::process::id(), self.written.fetch_add(1, Ordering::Relaxed));
        let path = self.writing.join(name);
        let written = File::create(&path).and_then(|mut file| {
            file.write_all(body)?;
            file.metadata()
        });
        match written {
            Ok(meta) => Ok((path, meta)),
            Err(error) => {
                remove_file(&path)?;
                Err(LocalError::file("write", &path)(error))
            }
        }
    }

    fn lock(&self, key: &ObjectKey) -> Result<File, LocalError> {
        let number = blake3::hash(key.as_str().as_bytes()).as_bytes()[0] % LOCKS;
        let path = self.locks.join(format!("{number:02}"));
        let file = File::options().create(true).append(true).open(&path).map_err(LocalError::file("open", &path))?;
        file.lock().map_err(LocalError::file("lock", &path))?;
        Ok(file)
    }

    fn open(&self, key: &ObjectKey) -> Result<(File, u64), ObjectError> {
        let path = self.file(key);
        let opened = File::open(&path).and_then(|file| file.metadata().map(|meta| (file, meta)));
        match opened {
            Ok((file, meta)) => Ok((file, meta.len())),
            Err(error) if is_absent(&error) => Err(ObjectError::NotFound(key.clone())),
            Err(error) => Err(LocalError::file("open", &path)(error).into()),
        }
    }

    /// The tag of what is there, from its bytes and not from memory: a conditional write must not be wrong.
    fn tag_now(&self, key: &ObjectKey) -> Result<String, ObjectError> {
        let (mut file, size) = self.open(key)?;
        let body = read_exactly(&mut file, size).map_err(LocalError::file("read", &self.file(key)))?;
        Ok(tag(&body))
    }

    fn head(&self, key: &ObjectKey) -> Result<ObjectMeta, ObjectError> {
        let (mut file, size) = self.open(key)?;
        let path = self.file(key);
        let etag = self.tags.of(&path, &mut file).map_err(LocalError::file("read", &path))?;
        Ok(ObjectMeta { key: key.clone(), size, etag })
    }

    fn delete(&self, key: &ObjectKey) -> Result<(), ObjectError> {
        let file = self.file(key);
        let _held = self.lock(key)?;
        remove_file(&file)?;
        self.tags.forget(&file);
        // Folders that became empty go too; one that is not empty ends the climb.
        for folder in file.ancestors().skip(1).take_while(|folder| *folder != self.root) {
            if fs::remove_dir(folder).is_err() {
                break;
            }
        }
        Ok(())
    }
}

fn checked(key: &ObjectKey) -> Result<ObjectKey, LocalError> {
    match key.as_str().len() {
        1..=KEY_MAX => Ok(key.clone()),
        length => Err(LocalError::Key(length)),
    }
}

/// blake3 of the content, 32 hex digits.
fn tag(body: &[u8]) -> String {
    blake3::hash(body).to_hex()[..32].to_owned()
}

/// Renames, making folders as needed; a delete that tidies up may take a folder away again in between.
fn rename_into(beside: &Path, file: &Path) -> Result<(), LocalError> {
    let folder = file.parent().unwrap_or(file);
    for _ in 0..100 {
        match fs::rename(beside, file) {
            Ok(()) => return Ok(()),
            Err(error) if error.kind() == ErrorKind::NotFound => match fs::create_dir_all(folder) {
                Ok(()) => (),
                Err(error) if error.kind() == ErrorKind::NotFound => (),
                Err(error) => return Err(LocalError::file("create", folder)(error)),
            },
            Err(error) => return Err(LocalError::file("rename into", file)(error)),
        }
    }
    fs::rename(beside, file).map_err(LocalError::file("rename into", file))
}

fn read_exactly(file: &mut File, length: u64) -> std::io::Result<Bytes> {
    let wanted = usize::try_from(length).map_err(|_| std::io::Error::from(ErrorKind::OutOfMemory))?;
    let mut body = Vec::with_capacity(wanted);
    file.take(length).read_to_end(&mut body)?;
    if body.len() != wanted {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    Ok(body.into())
}

fn is_absent(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

fn remove_file(path: &Path) -> Result<(), LocalError> {
    match fs::remove_file(path) {
        Err(error) if !is_absent(&error) => Err(LocalError::file("remove", path)(error)),
        _ => Ok(()),
    }
}

fn remove_abandoned(writing: &Path) -> Result<(), LocalError> {
    let entries = fs::read_dir(writing).map_err(LocalError::file("list", writing))?;
    for entry in entries {
        let path = entry.map_err(LocalError::file("list", writing))?.path();
        let modified = fs::metadata(&path).and_then(|meta| meta.modified());
        let age = modified.ok().and_then(|at| SystemTime::now().duration_since(at).ok());
        if age.is_some_and(|age| age > ABANDONED) {
            remove_file(&path)?;
        }
    }
    Ok(())
}
