package dynamostate

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// TTLAttribute is the attribute by which the table's TTL must be enabled.
const TTLAttribute = "expires"

// Schema returns the table that a state needs. Its TTL must be enabled by TTLAttribute.
func Schema(name string) *dynamodb.CreateTableInput {
	keys := func(hash, sort string) []types.KeySchemaElement {
		return []types.KeySchemaElement{
			{AttributeName: &hash, KeyType: types.KeyTypeHash}, {AttributeName: &sort, KeyType: types.KeyTypeRange},
		}
	}
	ordered := func(x index, has types.Projection) types.GlobalSecondaryIndex {
		return types.GlobalSecondaryIndex{IndexName: &x.name, KeySchema: keys(x.hash, x.sort), Projection: &has}
	}
	keysOnly := types.Projection{ProjectionType: types.ProjectionTypeKeysOnly}
	withDocuments := types.Projection{ProjectionType: types.ProjectionTypeInclude, NonKeyAttributes: pausedAttributes()}
	in := &dynamodb.CreateTableInput{TableName: &name, BillingMode: types.BillingModePayPerRequest,
		KeySchema: keys("pk", "sk"),
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{
			ordered(dueIndex(), keysOnly), ordered(wakeIndex(), keysOnly), ordered(pausedIndex(), withDocuments),
		}}
	for _, attribute := range []string{"pk", "sk", "list", "at", "status", "wake", "paused"} {
		in.AttributeDefinitions = append(in.AttributeDefinitions,
			types.AttributeDefinition{AttributeName: &attribute, AttributeType: types.ScalarAttributeTypeS})
	}
	return in
}
