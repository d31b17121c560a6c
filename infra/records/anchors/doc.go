// Package anchors keeps, apart from the records, how far each writer had come: in the folder or bucket of the
// gateway's state. A store of records that is put back to an older state, or emptied, agrees with itself; it does not
// agree with its anchor.
//
// The anchor is one document, anchors/<hash of the store's URL>.json:
//
//	{"version":1,"records":"file:///var/lib/airlock/audit","at":"…","heads":["01J… 7 <64 hex> exec_…"],"sum":"…"}
//
// Each head is a writer, the number of its newest record, that record's hash and id. sum is as package audit makes
// it, with the chain key where there is one. Only records that are certain to exist are anchored, after they exist,
// so an anchor may lag behind and never names a record that was not there. A head is only ever raised: gateways that
// share the document merge, under a lock in a folder and by compare-and-swap in a bucket.
package anchors
