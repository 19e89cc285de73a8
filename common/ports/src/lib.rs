//! The traits every adapter implements: stores, queues, models, the clock.
//!
//! What this room is for: the seams between the stages and the world. What enters: keys and messages of `model`.
//! What leaves: bytes, records, messages, or an error by meaning. What it must never do: know a vendor.
//! Each port has a conformance suite (feature `testing`) that every adapter passes.

pub mod clock;
pub mod model;
pub mod objects;
pub mod ocr;
pub mod queue;
pub mod records;
pub mod stage;
#[cfg(feature = "testing")]
pub mod testing;
pub mod trace;

pub use clock::{Clock, SystemClock};
pub use model::{AnswerForm, Completion, Ended, Model, ModelError, NoModel, Part, Prompt, Task, Usage};
pub use objects::{ObjectError, ObjectMeta, ObjectPage, ObjectStore, PresignedPut, PutCondition, PutOptions};
pub use ocr::{Ocr, OcrError, OcrPicture, OcrWord, Recognised};
pub use queue::{DeadLetter, Outgoing, Queue, QueueError, Received};
pub use records::{Condition, Item, Page, QueryOptions, RecordError, Records, TransactError, Write};
pub use stage::Stage;
