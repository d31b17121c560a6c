// Package audit is the record of one execution: its JSON, the hash chain that binds a writer's records together, and
// what is redacted before anything is stored. It does no I/O; the stores (infra/filerecords, infra/s3records) do.
package audit
