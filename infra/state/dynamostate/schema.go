package dynamostate

import (
	"github.com/aws/aws-sdk-go-v2/aws"
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
	in := &dynamodb.CreateTableInput{TableName: &name, BillingMode: types.BillingModePayPerRequest,
		KeySchema: keys("pk", "sk"),
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{IndexName: aws.String(indexName),
			KeySchema: keys("list", "at"), Projection: &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly}}}}
	for _, attribute := range []string{"pk", "sk", "list", "at"} {
		in.AttributeDefinitions = append(in.AttributeDefinitions,
			types.AttributeDefinition{AttributeName: &attribute, AttributeType: types.ScalarAttributeTypeS})
	}
	return in
}
