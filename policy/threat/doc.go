// Package threat defines what a scan reports: findings with their categories and severities, the danger level that they
// add up to, and facts about the structure of the code.
//
// It imports nothing, so that clients of the API can use its types too. Package scan produces them, package policy
// decides by them. Start with [Finding] and [Categories].
package threat
