package contract

import (
	"maps"
	"slices"
)

// Variables returns the names of the environment variables that a template sets, sorted, by the logical ID of the
// function or task definition.
func Variables(data []byte) (map[string][]string, error) {
	t, err := parse(data)
	if err != nil {
		return nil, err
	}
	out := map[string][]string{}
	for _, name := range t.each("AWS::Serverless::Function", "AWS::Lambda::Function") {
		variables := asObject(get(t.resources[name].props, "Environment", "Variables"))
		out[name] = slices.Sorted(maps.Keys(variables))
	}
	for _, name := range t.each("AWS::ECS::TaskDefinition") {
		for _, c := range list(t.resources[name].props["ContainerDefinitions"]) {
			for _, e := range append(list(get(c, "Environment")), list(get(c, "Secrets"))...) {
				out[name] = append(out[name], text(get(e, "Name")))
			}
		}
		slices.Sort(out[name])
	}
	return out, nil
}
