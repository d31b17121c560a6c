package service_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	podsecurity "k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	"sigs.k8s.io/yaml"

	"github.com/airlock-run/airlock/gateway/wiring/settings"
)

// tool returns the path of a program; a test that needs it is skipped where it is missing.
func tool(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if errors.Is(err, exec.ErrNotFound) {
		t.Skip(name + " is not installed")
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// systemd accepts every line of the unit, and rates its exposure at most 2.0 of 10.
func TestUnit(t *testing.T) {
	t.Parallel()
	analyze := tool(t, "systemd-analyze")
	unit, err := os.ReadFile("airlock.service")
	if err != nil {
		t.Fatal(err)
	}
	// The program is not installed here, and verify looks for it.
	text := strings.Replace(string(unit), "/usr/local/lib/airlock/airlock serve", "/bin/sh", 1)
	file := filepath.Join(t.TempDir(), "airlock.service")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(analyze, "verify", "--man=no", file).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
	out, err := exec.Command(analyze, "security", "--offline=true", "--threshold=20", file).CombinedOutput()
	if err != nil {
		t.Errorf("systemd-analyze security: %v\n%s", err, out)
	}
}

// The compose file loads, requires a key, and gives the container no more than it needs.
func TestCompose(t *testing.T) {
	t.Parallel()
	load := func(environment types.Mapping) (*types.Project, error) {
		return loader.LoadWithContext(t.Context(), types.ConfigDetails{
			ConfigFiles: []types.ConfigFile{{Filename: "compose.yaml"}}, Environment: environment, WorkingDir: ".",
		})
	}
	if _, err := load(nil); err == nil || !strings.Contains(err.Error(), "API_KEY") {
		t.Errorf("without a key it loads: %v", err)
	}
	project, err := load(types.Mapping{"API_KEY": "0123456789abcdef"})
	if err != nil {
		t.Fatal(err)
	}
	s := project.Services["gateway"]
	got := map[string]any{
		"user": s.User, "read only": s.ReadOnly, "capabilities": s.CapDrop, "options": s.SecurityOpt,
		"privileged": s.Privileged, "address": s.Ports[0].HostIP,
	}
	want := map[string]any{
		"user": "65532:65532", "read only": true, "capabilities": []string{"ALL"},
		"options": []string{"no-new-privileges:true"}, "privileged": false, "address": "127.0.0.1",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("the container (-want +got)\n%s", d)
	}
}

// Every setting that the files name exists, also those in their comments.
func TestSettingsExist(t *testing.T) {
	t.Parallel()
	known := append(settings.Names(), "HOME", "XDG_CACHE_HOME") // these two are settings of libraries
	named := regexp.MustCompile(`(?m)(?:name: |^ +)([A-Z][A-Z0-9]*_?[A-Z0-9_]*[A-Z])(?:[:,}]|$)|\b([A-Z][A-Z0-9_]{3,})=`)
	found := 0
	for _, pattern := range []string{"airlock.service", "compose.yaml", "kubernetes/*/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range named.FindAllStringSubmatch(string(text), -1) {
				found++
				if name := m[1] + m[2]; !slices.Contains(known, name) {
					t.Errorf("%s names %s, which is no setting", file, name)
				}
			}
		}
	}
	if found < 9 {
		t.Errorf("%d settings were found", found)
	}
}

// manifests are the objects of a folder, as Kustomize builds them, by kind.
func manifests(t *testing.T, folder string) map[string]string {
	t.Helper()
	built, err := exec.Command(tool(t, "kubectl"), "kustomize", folder).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, built)
	}
	all := map[string]string{}
	for document := range strings.SplitSeq(string(built), "\n---\n") {
		var head struct{ APIVersion, Kind string }
		if err := yaml.Unmarshal([]byte(document), &head); err != nil {
			t.Fatal(err)
		}
		all[head.APIVersion+" "+head.Kind] = document
	}
	return all
}

// The manifests have only fields that the Kubernetes API has, and their pods pass the restricted pod security standard.
func TestManifests(t *testing.T) {
	t.Parallel()
	restricted, err := policy.NewEvaluator(policy.DefaultChecks())
	if err != nil {
		t.Fatal(err)
	}
	for folder, replicas := range map[string]int32{"base": 1, "fleet": 3} {
		all := manifests(t, filepath.Join("kubernetes", folder))
		var set appsv1.StatefulSet
		var service corev1.Service
		var budget policyv1.PodDisruptionBudget
		for kind, into := range map[string]any{
			"apps/v1 StatefulSet": &set, "v1 Service": &service, "policy/v1 PodDisruptionBudget": &budget,
		} {
			if err := yaml.UnmarshalStrict([]byte(all[kind]), into); err != nil {
				t.Errorf("%s: %s: %v", folder, kind, err)
			}
			delete(all, kind)
		}
		if len(all) > 0 {
			t.Errorf("%s: nothing reads %v", folder, all)
		}
		pod := set.Spec.Template
		level := podsecurity.LevelVersion{Level: podsecurity.LevelRestricted, Version: podsecurity.LatestVersion()}
		for _, r := range restricted.EvaluatePod(level, &pod.ObjectMeta, &pod.Spec) {
			if !r.Allowed {
				t.Errorf("%s: the pod is not restricted: %s: %s", folder, r.ForbiddenReason, r.ForbiddenDetail)
			}
		}
		c := pod.Spec.Containers[0]
		got := map[string]any{
			"replicas": *set.Spec.Replicas, "ready": c.ReadinessProbe.HTTPGet.Path, "alive": c.LivenessProbe.HTTPGet.Path,
			"grace": *pod.Spec.TerminationGracePeriodSeconds, "read only": *c.SecurityContext.ReadOnlyRootFilesystem,
			"token": *pod.Spec.AutomountServiceAccountToken, "unavailable": budget.Spec.MaxUnavailable.IntValue(),
			"selects": fmt.Sprint(service.Spec.Selector), "budget": fmt.Sprint(budget.Spec.Selector.MatchLabels),
		}
		want := map[string]any{
			"replicas": replicas, "ready": "/readyz", "alive": "/healthz", "grace": int64(90), "read only": true,
			"token": false, "unavailable": 1, "selects": fmt.Sprint(pod.Labels), "budget": fmt.Sprint(pod.Labels),
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-want +got)\n%s", folder, d)
		}
	}
}

// A field that the API does not have is found, so that TestManifests can fail.
func TestManifestsAreStrict(t *testing.T) {
	t.Parallel()
	if err := yaml.UnmarshalStrict([]byte("spec: {replica: 1}"), &appsv1.StatefulSet{}); err == nil {
		t.Error("an unknown field was accepted")
	}
}
