package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	cyclonedx "github.com/CycloneDX/cyclonedx-go"
)

// write writes the requested files and prints one line per module.
func write(ctx context.Context, packages []string, sbom, licenses string, out io.Writer) error {
	main, deps, err := linked(ctx, packages)
	if err != nil {
		return err
	}
	var wrong []error
	for i := range deps {
		wrong = append(wrong, deps[i].examine())
	}
	if err := errors.Join(wrong...); err != nil {
		return err
	}
	for _, m := range deps {
		if _, err := fmt.Fprintf(out, "%s %s %s\n", m.Path, m.Version, m.license); err != nil {
			return err
		}
	}
	if sbom != "" {
		data, err := materials(main, deps)
		if err != nil {
			return err
		}
		if err := os.WriteFile(sbom, data, 0o644); err != nil {
			return err
		}
	}
	if licenses != "" {
		return os.WriteFile(licenses, texts(deps), 0o644)
	}
	return nil
}

// materials returns the SBOM as CycloneDX 1.6 JSON.
func materials(main module, deps []module) ([]byte, error) {
	bom := cyclonedx.NewBOM()
	bom.Metadata = &cyclonedx.Metadata{Component: &cyclonedx.Component{
		BOMRef: purl(main), Type: cyclonedx.ComponentTypeApplication, Name: main.Path, PackageURL: purl(main),
		Licenses: &cyclonedx.Licenses{{License: &cyclonedx.License{ID: "MIT"}}},
	}}
	components := make([]cyclonedx.Component, 0, len(deps))
	refs := make([]string, 0, len(deps))
	for _, m := range deps {
		components = append(components, cyclonedx.Component{
			BOMRef: purl(m), Type: cyclonedx.ComponentTypeLibrary, Name: m.Path, Version: m.Version, PackageURL: purl(m),
			Licenses:   &cyclonedx.Licenses{{Expression: m.license}},
			Properties: &[]cyclonedx.Property{{Name: "go:sum", Value: m.Sum}},
		})
		refs = append(refs, purl(m))
	}
	bom.Components = &components
	bom.Dependencies = &[]cyclonedx.Dependency{{Ref: purl(main), Dependencies: &refs}}
	var out bytes.Buffer
	encoder := cyclonedx.NewBOMEncoder(&out, cyclonedx.BOMFileFormatJSON).SetPretty(true).SetEscapeHTML(false)
	if err := encoder.EncodeVersion(bom, cyclonedx.SpecVersion1_6); err != nil {
		return nil, fmt.Errorf("encode bill of materials: %w", err)
	}
	return out.Bytes(), nil
}

func purl(m module) string {
	if m.Version == "" {
		return "pkg:golang/" + m.Path
	}
	return "pkg:golang/" + m.Path + "@" + m.Version
}

// texts returns every licence's text under the name of its module, as the licences require.
func texts(deps []module) []byte {
	var out bytes.Buffer
	for _, m := range deps {
		fmt.Fprintf(&out, "%s %s (%s)\n\n%s\n\n", m.Path, m.Version, m.license, m.text)
	}
	return out.Bytes()
}
