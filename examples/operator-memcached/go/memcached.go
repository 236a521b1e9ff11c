package operator

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Memcached is a number of instances of memcached.
type Memcached struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              MemcachedSpec   `json:"spec,omitempty"`
	Status            MemcachedStatus `json:"status,omitempty"`
}

// MemcachedSpec is what the user wants.
type MemcachedSpec struct {
	Size          int32 `json:"size"`
	ContainerPort int32 `json:"containerPort,omitempty"`
}

// MemcachedStatus is what the operator has seen.
type MemcachedStatus struct {
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// MemcachedList is a list of Memcacheds.
type MemcachedList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Memcached `json:"items"`
}

// DeepCopyObject returns a copy that shares nothing with the original.
func (m *Memcached) DeepCopyObject() runtime.Object {
	copied := *m
	m.ObjectMeta.DeepCopyInto(&copied.ObjectMeta)
	copied.Status.Conditions = append([]metav1.Condition(nil), m.Status.Conditions...)
	return &copied
}

// DeepCopyObject returns a copy that shares nothing with the original.
func (l *MemcachedList) DeepCopyObject() runtime.Object {
	copied := *l
	l.ListMeta.DeepCopyInto(&copied.ListMeta)
	copied.Items = make([]Memcached, len(l.Items))
	for i := range l.Items {
		copied.Items[i] = *l.Items[i].DeepCopyObject().(*Memcached)
	}
	return &copied
}
