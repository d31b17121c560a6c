// Package dynamotest runs dynalite for tests: a program on Node.js that speaks DynamoDB's protocol and checks
// conditions, indexes and sizes as DynamoDB does. Its indexes never lag behind, it deletes nothing by TTL, it never
// throttles, and it checks no permissions: only AWS shows these. Only tests import it. Start with [Start].
package dynamotest
