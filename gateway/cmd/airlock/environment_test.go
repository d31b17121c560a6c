package main

import "strings"

func environment(settings ...string) func(string) string {
	return func(name string) string {
		for _, s := range settings {
			if value, ok := strings.CutPrefix(s, name+"="); ok {
				return value
			}
		}
		return ""
	}
}
