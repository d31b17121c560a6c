// Command wire generates the types of the TypeScript and Python clients from the OpenAPI document:
//
//	go run ./gateway/client/wire
//
// The types of TypeScript are made by openapi-typescript, which npm ci in gateway/client/typescript installs. Each file
// names the hash of the document that it was made from; a test fails if the document has another.
//
// No package imports it. Start with main.
package main
