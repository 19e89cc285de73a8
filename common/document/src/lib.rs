//! What every parser shares: headings, tables, rows to chunks, assets, bounded readers.
