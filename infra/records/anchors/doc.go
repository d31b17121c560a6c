// Package anchors stores, apart from the records, how far each writer has come: in the folder, bucket or database of
// the gateway's state. A record store that is restored to an older state, or emptied, is consistent in itself but
// contradicts its anchor.
//
// The anchor is one document, anchors/<hash of the store's URL>.json:
//
//	{"version":1,"records":"file:///var/lib/airlock/audit","at":"…","heads":["01J… 7 <64 hex> exec_…"],"sum":"…"}
//
// Each head is a writer, the number of its newest record, that record's hash and its ID. Package audit computes sum,
// with the chain key if there is one. Only records that certainly exist are anchored, after they exist, so an anchor
// may lag behind and never names a missing record. A head is only ever raised: gateways that share the document merge
// their heads, under a lock in a folder and by compare-and-swap in a bucket or a database.
//
// Package wiring imports it. Start with [Store].
package anchors
