// Package crypto has the operations behind crypto.subtle. Keys cross as bytes: secrets as they are, private keys in
// PKCS #8, public keys in SubjectPublicKeyInfo. They live in the guest's memory like any of its values.
//
// The standard library's functions do not stop before they are done. Those that can take long are split here into parts
// whose work is announced; input that cannot be split is bounded. Start at [Ops]. Package node shares the key
// derivation; only it and package sandbox import this package.
package crypto
