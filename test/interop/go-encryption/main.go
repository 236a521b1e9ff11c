// Encrypts and decrypts values with the code and the configuration file of kube-apiserver. Reads one request as JSON in
// each line, and answers each with a line.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/server/options/encryptionconfig"
	"k8s.io/apiserver/pkg/storage/value"
)

type request struct {
	Operation string
	Group     string
	Resource  string
	// Key is that of etcd, which is part of what is authenticated.
	Key   string
	Value []byte
}

type response struct {
	Value []byte `json:"value"`
	// Stale is true if kube-apiserver would write the value again, with another key.
	Stale bool   `json:"stale"`
	Error string `json:"error,omitempty"`
}

func main() {
	ctx := context.Background()
	// The configuration is read once; with true it would wait for changes.
	config, err := encryptionconfig.LoadEncryptionConfig(ctx, os.Args[1], false, "go-encryption")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 16<<20)
	answers := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var asked request
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		if err := answers.Encode(answer(ctx, config, asked)); err != nil {
			os.Exit(1)
		}
	}
}

func answer(ctx context.Context, config *encryptionconfig.EncryptionConfiguration, asked request) response {
	transformer, found := config.Transformers[schema.GroupResource{Group: asked.Group, Resource: asked.Resource}]
	if !found {
		return response{Error: "the configuration has no such resource"}
	}
	var answered response
	var err error
	switch asked.Operation {
	case "encrypt":
		answered.Value, err = transformer.TransformToStorage(ctx, asked.Value, value.DefaultContext(asked.Key))
	case "decrypt":
		answered.Value, answered.Stale, err = transformer.TransformFromStorage(ctx, asked.Value, value.DefaultContext(asked.Key))
	default:
		err = fmt.Errorf("unknown operation %q", asked.Operation)
	}
	if err != nil {
		answered.Error = err.Error()
	}
	return answered
}
