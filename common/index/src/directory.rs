//! A split as a directory of the segment library: read-only, out of a [`Blob`].

use std::fmt;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{DirectoryLock, FileHandle, Lock, OwnedBytes, WatchCallback, WatchHandle, WritePtr};
use tantivy::{Directory, HasLen};

use crate::blob::Blob;
use crate::bundle::Footer;

/// Ranges touched, for [`crate::build`] to learn what opening needs.
pub(crate) type Touched = Arc<Mutex<Vec<Range<u64>>>>;

/// The files of one split.
#[derive(Clone)]
pub(crate) struct SplitDirectory {
    blob: Arc<Blob>,
    footer: Arc<Footer>,
    touched: Option<Touched>,
}

impl SplitDirectory {
    /// Files as `footer` places them in `blob`.
    pub(crate) fn new(blob: Arc<Blob>, footer: Arc<Footer>) -> Self {
        Self { blob, footer, touched: None }
    }

    /// As [`Self::new`], noting every range that is read.
    pub(crate) fn recording(blob: Arc<Blob>, footer: Arc<Footer>, touched: Touched) -> Self {
        Self { blob, footer, touched: Some(touched) }
    }
}

impl fmt::Debug for SplitDirectory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SplitDirectory")
    }
}

struct SplitFile {
    blob: Arc<Blob>,
    range: Range<u64>,
    touched: Option<Touched>,
}

impl fmt::Debug for SplitFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SplitFile({:?})", self.range)
    }
}

impl HasLen for SplitFile {
    fn len(&self) -> usize {
        (self.range.end - self.range.start) as usize
    }
}

impl FileHandle for SplitFile {
    fn read_bytes(&self, range: Range<usize>) -> io::Result<OwnedBytes> {
        let range = self.range.start + range.start as u64..self.range.start + range.end as u64;
        if range.end > self.range.end {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "range outside its file"));
        }
        if let Some(touched) = &self.touched {
            touched.lock().unwrap_or_else(PoisonError::into_inner).push(range.clone());
        }
        self.blob.read(range)
    }
}

fn read_only() -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, "splits are never changed")
}

impl Directory for SplitDirectory {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        let file = path.extension().and_then(|extension| self.footer.file(extension.to_str()?));
        let Some(file) = file else {
            return Err(OpenReadError::FileDoesNotExist(path.to_owned()));
        };
        Ok(Arc::new(SplitFile { blob: self.blob.clone(), range: file.start..file.end, touched: self.touched.clone() }))
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        Err(DeleteError::IoError { io_error: Arc::new(read_only()), filepath: path.to_owned() })
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        Ok(path.extension().and_then(|extension| self.footer.file(extension.to_str()?)).is_some())
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        Err(OpenWriteError::wrap_io_error(read_only(), path.to_owned()))
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        if path == Path::new("meta.json") {
            return Ok(self.footer.meta.clone().into_bytes());
        }
        Err(OpenReadError::FileDoesNotExist(path.to_owned()))
    }

    fn atomic_write(&self, _path: &Path, _data: &[u8]) -> io::Result<()> {
        Err(read_only())
    }

    fn sync_directory(&self) -> io::Result<()> {
        Ok(())
    }

    fn acquire_lock(&self, _lock: &Lock) -> Result<DirectoryLock, LockError> {
        // Nothing is ever written, so nothing has to be kept apart.
        Ok(DirectoryLock::from(Box::new(())))
    }

    fn watch(&self, _watch_callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        Ok(WatchHandle::empty())
    }
}
