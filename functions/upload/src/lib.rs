//! Creates jobs, hands out presigned addresses, answers job and document reads.
