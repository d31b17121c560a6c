package s3objects_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/airlock-run/airlock/infra/s3objects"
	"github.com/airlock-run/airlock/infra/s3test"
)

var server *s3test.Server

func TestMain(m *testing.M) {
	for _, pair := range s3test.Environment() {
		name, value, _ := strings.Cut(pair, "=")
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	var err error
	if server, err = s3test.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	server.Stop()
	os.Exit(code)
}

func open(t *testing.T) (*s3objects.Store, string) {
	t.Helper()
	bucket := server.Bucket(t)
	s, err := s3objects.Open(t.Context(), "s3://"+bucket+"/below", s3objects.Access{Endpoint: server.Endpoint})
	if err != nil {
		t.Fatal(err)
	}
	return s, bucket
}

// Objects that come and go beside one another do so whole: that S3 is busy with one of them is nobody's failure.
func TestComeAndGo(t *testing.T) {
	s, _ := open(t)
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			for i := range 60 {
				key := fmt.Sprintf("a/b/c/%d-%d", n, i)
				if _, err := s.Create(t.Context(), key, []byte(key)); err != nil {
					t.Error(err)
				}
				if body, _, err := s.Get(t.Context(), key, 100); err != nil || string(body) != key {
					t.Errorf("%q %v", body, err)
				}
				if err := s.Erase(t.Context(), key); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if keys, err := s.List(t.Context(), "a/", "", 10); err != nil || len(keys) != 0 {
		t.Errorf("%v %v", keys, err)
	}
}

// Of many who make an object one does, unless they make the same.
func TestCreateOnce(t *testing.T) {
	s, _ := open(t)
	for same, want := range map[bool]int{true: 12, false: 1} {
		var mu sync.Mutex
		made := 0
		var all sync.WaitGroup
		for n := range 12 {
			all.Go(func() {
				body := "the same"
				if !same {
					body = fmt.Sprint(n)
				}
				_, err := s.Create(t.Context(), fmt.Sprint(same), []byte(body))
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					made++
				} else if !errors.Is(err, s3objects.ErrChanged) {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if made != want {
			t.Errorf("%d made it, want %d", made, want)
		}
	}
}

// Erase leaves nothing in a bucket that keeps versions; Delete leaves what was there.
func TestErase(t *testing.T) {
	s, bucket := open(t)
	client := server.Client(t)
	_, err := client.PutBucketVersioning(t.Context(), &s3.PutBucketVersioningInput{
		Bucket: &bucket, VersioningConfiguration: &types.VersioningConfiguration{Status: types.BucketVersioningStatusEnabled},
	})
	if err != nil {
		t.Fatal(err)
	}
	for key, remove := range map[string]func(key string) error{
		"erased":  func(key string) error { return s.Erase(t.Context(), key) },
		"deleted": func(key string) error { return s.Delete(t.Context(), key) },
	} {
		if _, err := s.Create(t.Context(), key, []byte("x")); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(remove(key), remove("never there")); err != nil {
			t.Error(err)
		}
		if _, _, err := s.Get(t.Context(), key, 1); !errors.Is(err, s3objects.ErrMissing) {
			t.Errorf("%s: %v", key, err)
		}
	}
	left, err := client.ListObjectVersions(t.Context(), &s3.ListObjectVersionsInput{Bucket: &bucket})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range left.Versions {
		if aws.ToString(v.Key) != "below/deleted" {
			t.Errorf("left: %s", aws.ToString(v.Key))
		}
	}
}
