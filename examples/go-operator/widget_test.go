package operator

import (
	"context"
	"io"
	"os"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(zap.New(zap.WriteTo(os.Stderr)))
	os.Exit(m.Run())
}

// The operator under envtest: CRD install, validation by its schema, reconciles, and an orderly stop.
func TestOperator(t *testing.T) {
	environment := &envtest.Environment{CRDDirectoryPaths: []string{"crd.yaml"}, ErrorIfCRDPathMissing: true}
	admin := start(t, environment)

	manager, err := ctrl.NewManager(environment.Config, ctrl.Options{Metrics: server.Options{BindAddress: "0"}})
	must(t, err)
	must(t, (&WidgetReconciler{manager.GetClient()}).SetupWithManager(manager))
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(ctx) }()
	t.Cleanup(func() { cancel(); must(t, <-ended) })

	must(t, admin.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}))
	if err := admin.Create(ctx, widget("bad", "mauve")); !apierrors.IsInvalid(err) {
		t.Fatalf("create of a Widget in a colour that its schema lacks: got %v, want Invalid", err)
	}
	must(t, admin.Create(ctx, widget("sign", "green")))
	key := client.ObjectKey{Namespace: "shop", Name: "sign"}
	found, config := NewWidget(), &corev1.ConfigMap{}
	eventually(t, "status.shown is set", func() bool {
		must(t, admin.Get(ctx, key, found))
		shown, _, _ := unstructured.NestedString(found.Object, "status", "shown")
		return shown == "green"
	})
	must(t, admin.Get(ctx, key, config))
	if owner := metav1.GetControllerOf(config); owner == nil || owner.Name != "sign" {
		t.Fatalf("owner of the ConfigMap: got %v, want the Widget", owner)
	}
	config.Data["colour"] = "red"
	must(t, admin.Update(ctx, config))
	eventually(t, "a changed ConfigMap is put right", func() bool {
		must(t, admin.Get(ctx, key, config))
		return config.Data["colour"] == "green"
	})
	// The built-in garbage collector is on unless --controllers says otherwise.
	must(t, admin.Delete(ctx, found))
	eventually(t, "the ConfigMap of a deleted Widget is collected", func() bool {
		return apierrors.IsNotFound(admin.Get(ctx, key, config))
	})
}

// A suite that needs no controllers disables the built-in ones; a user has the rights of its groups.
func TestWithoutControllers(t *testing.T) {
	environment := &envtest.Environment{}
	environment.ControlPlane.GetAPIServer().Configure().Set("controllers", "-*")
	admin := start(t, environment)
	ctx := context.Background()

	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "stays"}}
	must(t, admin.Create(ctx, namespace))
	must(t, admin.Delete(ctx, namespace))
	time.Sleep(2 * time.Second)
	must(t, admin.Get(ctx, client.ObjectKeyFromObject(namespace), namespace))
	if namespace.Status.Phase != corev1.NamespaceTerminating {
		t.Fatalf("phase of a deleted namespace: got %q, want Terminating", namespace.Status.Phase)
	}

	user, err := environment.AddUser(envtest.User{Name: "jane", Groups: []string{"guests"}}, nil)
	must(t, err)
	jane, err := client.New(user.Config(), client.Options{})
	must(t, err)
	if err := jane.List(ctx, &corev1.SecretList{}); !apierrors.IsForbidden(err) {
		t.Fatalf("list of Secrets by a user without roles: got %v, want Forbidden", err)
	}
	kubectl, err := user.Kubectl()
	must(t, err)
	out, _, err := kubectl.Run("auth", "whoami", "-o", "jsonpath={.status.userInfo.username}")
	must(t, err)
	if name, _ := io.ReadAll(out); string(name) != "jane" {
		t.Fatalf("kubectl auth whoami: got %q, want jane", name)
	}
}

func start(t *testing.T, environment *envtest.Environment) client.Client {
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		t.Skip("KUBEBUILDER_ASSETS is not set: see README.md")
	}
	environment.ControlPlane.GetAPIServer().Err = os.Stderr
	config, err := environment.Start()
	must(t, err)
	t.Cleanup(func() { must(t, environment.Stop()) })
	admin, err := client.New(config, client.Options{})
	must(t, err)
	return admin
}

func widget(name, colour string) *unstructured.Unstructured {
	made := NewWidget()
	made.SetNamespace("shop")
	made.SetName(name)
	made.Object["spec"] = map[string]any{"colour": colour}
	return made
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !holds(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within 30 s: %s", what)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
