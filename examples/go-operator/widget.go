// Package operator is a small operator: it creates a ConfigMap for each Widget, and sets the status of the Widget.
package operator

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// WidgetKind is the kind that crd.yaml defines.
var WidgetKind = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"}

// NewWidget returns an empty Widget.
func NewWidget() *unstructured.Unstructured {
	widget := &unstructured.Unstructured{}
	widget.SetGroupVersionKind(WidgetKind)
	return widget
}

// WidgetReconciler keeps a ConfigMap for every Widget.
type WidgetReconciler struct {
	client.Client
}

// SetupWithManager registers the reconciler for Widgets and the ConfigMaps that they own.
func (r *WidgetReconciler) SetupWithManager(manager ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(manager).
		Named("widget").
		For(NewWidget()).
		Owns(&corev1.ConfigMap{}).
		Complete(r)
}

// Reconcile creates or updates the ConfigMap of one Widget and reports it in the status.
func (r *WidgetReconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	widget := NewWidget()
	if err := r.Get(ctx, request.NamespacedName, widget); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	colour, _, err := unstructured.NestedString(widget.Object, "spec", "colour")
	if err != nil {
		return ctrl.Result{}, err
	}
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: widget.GetNamespace(), Name: widget.GetName()}}
	_, err = controllerutil.CreateOrUpdate(ctx, r.Client, config, func() error {
		config.Data = map[string]string{"colour": colour}
		return controllerutil.SetControllerReference(widget, config, r.Scheme())
	})
	if err != nil {
		return ctrl.Result{}, err
	}
	if err := unstructured.SetNestedField(widget.Object, colour, "status", "shown"); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, r.Status().Update(ctx, widget)
}
