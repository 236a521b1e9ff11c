import { events, type NamespacedBootRole } from './boot-role.js';

/** Controllers whose service accounts have Roles in the system namespaces, and no ClusterRole. */
export type NamespacedControllerRole = 'bootstrap-signer' | 'token-cleaner';

/**
 * Roles of cluster components in the system namespaces. Read from the API of a 1.36 control plane.
 */
export const namespacedRoles: readonly NamespacedBootRole[] = [
  {
    namespace: 'public',
    name: 'system:controller:bootstrap-signer',
    rules: ['get,list,watch | core | configmaps', 'update | core | configmaps | cluster-info', events],
    subjects: ['ServiceAccount bootstrap-signer'],
  },
  {
    namespace: 'system',
    name: 'extension-apiserver-authentication-reader',
    binding: 'system::extension-apiserver-authentication-reader',
    rules: ['get,list,watch | core | configmaps | extension-apiserver-authentication'],
    subjects: ['User system:kube-controller-manager', 'User system:kube-scheduler'],
  },
  {
    namespace: 'system',
    name: 'system::leader-locking-kube-controller-manager',
    rules: [
      'create,get,list,update,watch | coordination. | leases',
      'create,get,list,update,watch | coordination. | leasecandidates',
    ],
    subjects: [
      'User system:kube-controller-manager',
      'ServiceAccount kube-controller-manager',
      'ServiceAccount leader-election-controller',
    ],
  },
  {
    namespace: 'system',
    name: 'system::leader-locking-kube-scheduler',
    rules: [
      'create,get,list,update,watch | coordination. | leases',
      'create,get,list,update,watch | coordination. | leasecandidates',
    ],
    subjects: ['User system:kube-scheduler', 'ServiceAccount kube-scheduler'],
  },
  {
    namespace: 'system',
    name: 'system:controller:bootstrap-signer',
    rules: ['get,list,watch | core | secrets'],
    subjects: ['ServiceAccount bootstrap-signer'],
  },
  {
    namespace: 'system',
    name: 'system:controller:cloud-provider',
    rules: ['create,get,list,watch | core | configmaps'],
    subjects: ['ServiceAccount cloud-provider'],
  },
  {
    namespace: 'system',
    name: 'system:controller:token-cleaner',
    rules: ['delete,get,list,watch | core | secrets', events],
    subjects: ['ServiceAccount token-cleaner'],
  },
];
