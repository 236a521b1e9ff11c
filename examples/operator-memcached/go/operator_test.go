package operator

import (
	"context"
	"os"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

const namespace = "memcached-go"

var (
	ctx   context.Context
	admin client.Client
)

// Uses the server of $KUBECONFIG with USE_EXISTING_CLUSTER=true, and otherwise the programs in $KUBEBUILDER_ASSETS.
func TestMain(m *testing.M) {
	ctrl.SetLogger(zap.New(zap.WriteTo(os.Stderr)))
	environment := &envtest.Environment{CRDDirectoryPaths: []string{"../crd.yaml"}, ErrorIfCRDPathMissing: true}
	config, err := environment.Start()
	check(err)
	check(AddToScheme(scheme.Scheme))
	admin, err = client.New(config, client.Options{})
	check(err)
	manager, err := ctrl.NewManager(config, ctrl.Options{Metrics: server.Options{BindAddress: "0"}})
	check(err)
	check((&Reconciler{manager.GetClient()}).SetupWithManager(manager))
	var cancel context.CancelFunc
	ctx, cancel = context.WithCancel(context.Background())
	check(admin.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}))
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(ctx) }()
	code := m.Run()
	cancel()
	check(<-ended)
	check(environment.Stop())
	os.Exit(code)
}

func TestDeploymentHasSizeAndOwner(t *testing.T) {
	memcached := create(t, "owned", 3)
	deployment := &appsv1.Deployment{ObjectMeta: memcached.ObjectMeta}
	eventually(t, deployment, func(found bool) bool { return found })
	if owner := metav1.GetControllerOf(deployment); *deployment.Spec.Replicas != 3 || owner.UID != memcached.UID {
		t.Fatalf("got %d replicas owned by %v", *deployment.Spec.Replicas, owner)
	}
}

func TestForbiddenSizeIsRefused(t *testing.T) {
	if err := admin.Create(ctx, memcached("large", 9)); !apierrors.IsInvalid(err) {
		t.Fatalf("got %v, want Invalid", err)
	}
}

func TestReplicasFollowSize(t *testing.T) {
	memcached := create(t, "scaled", 2)
	deployment := &appsv1.Deployment{ObjectMeta: memcached.ObjectMeta}
	eventually(t, deployment, func(found bool) bool { return found })
	patch(t, deployment, `{"spec":{"replicas":7}}`)
	changed := deployment.Generation
	eventually(t, deployment, func(bool) bool { return deployment.Generation > changed && *deployment.Spec.Replicas == 2 })
	patch(t, memcached, `{"spec":{"size":4}}`)
	eventually(t, deployment, func(bool) bool { return *deployment.Spec.Replicas == 4 })
}

func TestAvailableOnceAllPodsAreReady(t *testing.T) {
	memcached := create(t, "ready", 2)
	eventually(t, memcached, func(bool) bool { return meta.IsStatusConditionFalse(memcached.Status.Conditions, "Available") })
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "ready"}}
	eventually(t, deployment, func(found bool) bool { return found })
	deployment.Status.Replicas, deployment.Status.ReadyReplicas = 2, 2
	check(admin.Status().Update(ctx, deployment))
	eventually(t, memcached, func(bool) bool { return meta.IsStatusConditionTrue(memcached.Status.Conditions, "Available") })
}

func TestDeletionIsRecorded(t *testing.T) {
	memcached := create(t, "deleted", 1)
	eventually(t, memcached, func(bool) bool { return len(memcached.Status.Conditions) > 0 })
	check(admin.Delete(ctx, memcached))
	eventually(t, memcached, func(found bool) bool { return !found })
	events := &corev1.EventList{}
	check(admin.List(ctx, events, client.InNamespace(namespace), client.MatchingFields{"involvedObject.name": "deleted"}))
	if len(events.Items) != 1 || events.Items[0].Reason != "Deleting" {
		t.Fatalf("got the Events %v, want one with the reason Deleting", events.Items)
	}
}

func memcached(name string, size int32) *Memcached {
	return &Memcached{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       MemcachedSpec{Size: size},
	}
}

func create(t *testing.T, name string, size int32) *Memcached {
	t.Helper()
	created := memcached(name, size)
	if err := admin.Create(ctx, created); err != nil {
		t.Fatal(err)
	}
	return created
}

func patch(t *testing.T, object client.Object, text string) {
	t.Helper()
	if err := admin.Patch(ctx, object, client.RawPatch("application/merge-patch+json", []byte(text))); err != nil {
		t.Fatal(err)
	}
}

// eventually reads the object until holds returns true.
func eventually(t *testing.T, object client.Object, holds func(found bool) bool) {
	t.Helper()
	key := client.ObjectKeyFromObject(object)
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		err := admin.Get(ctx, key, object)
		if client.IgnoreNotFound(err) != nil {
			t.Fatal(err)
		}
		if holds(err == nil) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s did not become as expected", key)
		}
	}
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
