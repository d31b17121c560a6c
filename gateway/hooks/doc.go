// Package hooks says whether a webhook comes from whom it claims to, what code is told of it, and how what code returns
// becomes the answer.
//
// Each scheme compares in constant time. Those that sign a timestamp refuse one that is too old or too far ahead.
// Every scheme that signs gives a key by which a second delivery of the same thing is known (see [Proof]); keeping
// the keys is for others.
package hooks
