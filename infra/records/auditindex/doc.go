// Package auditindex answers questions about many records from a SQLite file beside them.
//
// The records stay the only truth. The index holds for each of them where its line is, what lists select by, and what
// figures are made of; and the figures of every hour and day, ready made. It may be deleted at any time: it is then
// made again. An index whose file cannot be read, or that was made by another version, is made again too.
//
// # Following the records
//
// Lines are only ever added to a day's file, by whatever process, so the index remembers how far it has read each of
// them and goes on from there before it answers. Days that retention took away leave the index. The last line read of
// the newest day, and when the index is opened that of every day, is compared with what is there: a day that was
// replaced (a restored backup, another folder) is read again from its beginning.
//
// In a bucket every record is an object of its own, whose name begins with the time at which its id was made, and
// there is no other order. Before each question the names of the last while are listed, and the objects that are new
// are read. Now and then whole days are listed in the background, which finds what came late and what is gone.
//
// A question waits a moment for the index to catch up. While it cannot, because it is being built, lists are answered
// by the record store itself and figures with audit.ErrBehind; the work goes on meanwhile, and nothing is lost when
// the process dies. Several processes may share an index.
package auditindex
