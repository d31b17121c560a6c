// Package service holds the files that run a gateway as a service: a unit for systemd, a compose file, and manifests
// for Kubernetes (Kustomize). It has no code; its tests read each file with the tools and libraries of its system.
// Nothing imports it. Start with gateway/OPERATIONS.md, "A gateway as a service".
package service
