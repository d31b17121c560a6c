// Package web has the operations behind the web platform's APIs: text encodings, base64, URLs, media types and forms,
// and what the console and structuredClone ask of values. Start at [Ops]. Only package sandbox imports it.
package web
