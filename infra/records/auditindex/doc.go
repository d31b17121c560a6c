// Package auditindex answers queries over many records from a SQLite file beside them.
//
// The records are the only source of truth. For each record the index holds where its line is, the fields that lists
// select by, and the fields that summaries are computed from; it also holds a summary of every hour and day. It may be
// deleted at any time and is then rebuilt. An index that cannot be read, or that another version made, is rebuilt too.
//
// # Following the records
//
// Lines are only ever appended to a day's file, by any process, so the index remembers how far it has read each file
// and continues there before it answers. Days that retention removed leave the index. The last line that was read of
// the newest day, and on opening that of every day, is compared with the file: a day that was replaced (a restored
// backup, another folder) is read again from its beginning.
//
// In a bucket every record is an object whose name begins with the time of its ID, and there is no other order. Before
// each query the index lists the recent names, with one request, and reads new objects. Now and then it lists the days
// and the names of whole days in the background, to find late and deleted records. The lines that were read last stay
// in memory, so a page of new records reads no object.
//
// A query waits a moment for the index to catch up. If it cannot, because the index is being built, the record store
// returns lists, and summaries cover what the index has, which of a bucket are the newest records, with
// audit.ErrBehind. Once a query has waited, the following ones do not, until the index is built. The work continues
// meanwhile, and nothing is lost if the process dies. Several processes may share an index.
//
// Package wiring and tests import it. Start with [Open].
package auditindex
