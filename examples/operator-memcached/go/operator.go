// Package operator is the operator of ../operator.mjs with controller-runtime.
package operator

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

const finalizer = "cache.example.com/finalizer"

// GroupVersion of the kind that ../crd.yaml defines.
var GroupVersion = schema.GroupVersion{Group: "cache.example.com", Version: "v1alpha1"}

// AddToScheme registers Memcached.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &Memcached{}, &MemcachedList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}

// Reconciler keeps a Deployment for every Memcached.
type Reconciler struct{ client.Client }

// SetupWithManager registers the reconciler for Memcacheds and their Deployments.
func (r *Reconciler) SetupWithManager(manager ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(manager).For(&Memcached{}).Owns(&appsv1.Deployment{}).Complete(r)
}

// Reconcile brings the Deployment and the status of one Memcached up to date.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	memcached := &Memcached{}
	if err := r.Get(ctx, request.NamespacedName, memcached); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !memcached.DeletionTimestamp.IsZero() {
		if !controllerutil.RemoveFinalizer(memcached, finalizer) {
			return ctrl.Result{}, nil
		}
		if err := r.recordDeletion(ctx, memcached); err != nil {
			return ctrl.Result{}, err
		}
		return ctrl.Result{}, client.IgnoreNotFound(r.Update(ctx, memcached))
	}
	if controllerutil.AddFinalizer(memcached, finalizer) {
		if err := r.Update(ctx, memcached); err != nil {
			return ctrl.Result{}, err
		}
	}
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: request.Namespace, Name: request.Name}}
	_, err := controllerutil.CreateOrUpdate(ctx, r.Client, deployment, func() error {
		describe(memcached, deployment)
		return controllerutil.SetControllerReference(memcached, deployment, r.Scheme())
	})
	if err != nil {
		return ctrl.Result{}, err
	}
	ready, size := deployment.Status.ReadyReplicas, memcached.Spec.Size
	condition := metav1.Condition{Type: "Available", Status: metav1.ConditionFalse, Reason: "PodsNotReady"}
	condition.Message = fmt.Sprintf("%d of %d Pods are ready", ready, size)
	if ready >= size {
		condition.Status, condition.Reason = metav1.ConditionTrue, "PodsReady"
	}
	if meta.SetStatusCondition(&memcached.Status.Conditions, condition) {
		err = r.Status().Update(ctx, memcached)
	}
	return ctrl.Result{}, err
}

// describe sets the fields of the Deployment that the operator decides.
func describe(memcached *Memcached, deployment *appsv1.Deployment) {
	labels := map[string]string{
		"app.kubernetes.io/name":     "memcached",
		"app.kubernetes.io/instance": memcached.Name,
	}
	deployment.Labels = labels
	spec := &deployment.Spec
	spec.Replicas = &memcached.Spec.Size
	spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
	spec.Template.Labels = labels
	if len(spec.Template.Spec.Containers) != 1 {
		spec.Template.Spec.Containers = make([]corev1.Container, 1)
	}
	container := &spec.Template.Spec.Containers[0]
	container.Name, container.Image = "memcached", "memcached:1.6-alpine"
	container.Command = []string{"memcached", "-m=64"}
	port := corev1.ContainerPort{Name: "memcached", ContainerPort: memcached.Spec.ContainerPort}
	port.Protocol = corev1.ProtocolTCP
	container.Ports = []corev1.ContainerPort{port}
}

// recordDeletion may be repeated, and does nothing in a namespace that is being deleted.
func (r *Reconciler) recordDeletion(ctx context.Context, memcached *Memcached) error {
	namespace, name := memcached.Namespace, memcached.Name
	event := &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("%s.%s", name, memcached.UID)},
		InvolvedObject: corev1.ObjectReference{
			APIVersion: GroupVersion.String(), Kind: "Memcached", Namespace: namespace, Name: name, UID: memcached.UID,
		},
		Type:    corev1.EventTypeWarning,
		Reason:  "Deleting",
		Message: fmt.Sprintf("Memcached %s is being deleted from the namespace %s", name, namespace),
		Source:  corev1.EventSource{Component: "memcached-operator"},
	}
	err := r.Create(ctx, event)
	if apierrors.IsAlreadyExists(err) || apierrors.IsForbidden(err) {
		return nil
	}
	return err
}
