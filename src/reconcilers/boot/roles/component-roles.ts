import { events, type BootRole } from './boot-role.js';

/**
 * ClusterRoles of cluster components: schedulers, nodes, DNS, approvers of certificates. Read from the API of a 1.36
 * control plane.
 */
export const componentRoles: Readonly<Record<string, BootRole>> = {
  'system:{certificates.}:certificatesigningrequests:nodeclient': {
    rules: ['create | certificates. | certificatesigningrequests/nodeclient'],
  },
  'system:{certificates.}:certificatesigningrequests:selfnodeclient': {
    rules: ['create | certificates. | certificatesigningrequests/selfnodeclient'],
  },
  'system:{certificates.}:kube-apiserver-client-approver': {
    rules: ['approve | certificates. | signers | ~/kube-apiserver-client'],
  },
  'system:{certificates.}:kube-apiserver-client-kubelet-approver': {
    rules: ['approve | certificates. | signers | ~/kube-apiserver-client-kubelet'],
  },
  'system:{certificates.}:kubelet-serving-approver': {
    rules: ['approve | certificates. | signers | ~/kubelet-serving'],
  },
  'system:{certificates.}:legacy-unknown-approver': { rules: ['approve | certificates. | signers | ~/legacy-unknown'] },
  'system:heapster': {
    rules: ['get,list,watch | core | events,namespaces,nodes,pods', 'get,list,watch | extensions | deployments'],
  },
  'system:kube-aggregator': { rules: ['get,list,watch | core | endpoints,services'] },
  'system:kube-controller-manager': {
    rules: [
      events,
      'create | coordination. | leases',
      'get,update | coordination. | leases | kube-controller-manager',
      'create | core | secrets,serviceaccounts',
      'delete | core | secrets',
      'get | core | configmaps,namespaces,secrets,serviceaccounts',
      'update | core | secrets,serviceaccounts',
      'create | authentication. | tokenreviews',
      'create | authorization. | subjectaccessreviews',
      'list,watch | * | *',
      'create | core | serviceaccounts/token',
    ],
    subjects: ['User system:kube-controller-manager'],
  },
  'system:kube-dns': { rules: ['list,watch | core | endpoints,services'], subjects: ['ServiceAccount kube-dns'] },
  'system:kube-scheduler': {
    rules: [
      events,
      'create | coordination. | leases',
      'get,list,update,watch | coordination. | leases | kube-scheduler',
      'create,delete,deletecollection,get,list,patch,update,watch | coordination. | leasecandidates',
      'get,list,watch | core | nodes',
      'delete,get,list,watch | core | pods',
      'create | core | bindings,pods/binding',
      'patch,update | core | pods/status',
      'get,list,watch | core | replicationcontrollers,services',
      'get,list,watch | apps,extensions | replicasets',
      'get,list,watch | apps | statefulsets',
      'get,list,watch | policy | poddisruptionbudgets',
      'get,list,watch | core | persistentvolumeclaims,persistentvolumes',
      'create | authentication. | tokenreviews',
      'create | authorization. | subjectaccessreviews',
      'get,list,watch | storage. | csinodes',
      'get,list,watch | storage. | volumeattachments',
      'get,list,watch | core | namespaces',
      'get,list,watch | storage. | csidrivers',
      'get,list,watch | storage. | csistoragecapacities',
      'get,list,watch | resource. | deviceclasses',
      'get,list,patch,update,watch | resource. | resourceclaims',
      'get,list,patch,update,watch | resource. | resourceclaims/status',
      'update | core | pods/finalizers',
      'get,list,watch | resource. | resourceslices',
      'create,delete | resource. | resourceclaims',
      'patch,update | resource. | resourceclaims/binding',
    ],
    subjects: ['User system:kube-scheduler'],
  },
  'system:kubelet-api-admin': {
    rules: [
      'get,list,watch | core | nodes',
      'proxy | core | nodes',
      '* | core | nodes/log,nodes/metrics,nodes/proxy,nodes/stats',
      '* | core | nodes/configz,nodes/healthz,nodes/pods',
    ],
  },
  'system:node': {
    rules: [
      'create | authentication. | tokenreviews',
      'create | authorization. | localsubjectaccessreviews,subjectaccessreviews',
      'get,list,watch | core | services',
      'create,get,list,watch | core | nodes',
      'patch,update | core | nodes/status',
      'patch,update | core | nodes',
      events,
      'get,list,watch | core | pods',
      'create,delete | core | pods',
      'patch,update | core | pods/status',
      'create | core | pods/eviction',
      'get,list,watch | core | configmaps,secrets',
      'get | core | persistentvolumeclaims,persistentvolumes',
      'get | core | endpoints',
      'create,get,list,watch | certificates. | certificatesigningrequests',
      'create,delete,get,patch,update | coordination. | leases',
      'get | storage. | volumeattachments',
      'create | core | serviceaccounts/token',
      'get,patch,update | core | persistentvolumeclaims/status',
      'get,list,watch | storage. | csidrivers',
      'create,delete,get,patch,update | storage. | csinodes',
      'get,list,watch | node. | runtimeclasses',
      'get | resource. | resourceclaims',
      'deletecollection | resource. | resourceslices',
      'get | core | serviceaccounts',
    ],
    subjects: [],
  },
  'system:node-bootstrapper': { rules: ['create,get,list,watch | certificates. | certificatesigningrequests'] },
  'system:node-problem-detector': { rules: ['get | core | nodes', 'patch | core | nodes/status', events] },
  'system:node-proxier': {
    rules: [
      'list,watch | core | endpoints,services',
      'get,list,watch | core | nodes',
      events,
      'list,watch | networking. | servicecidrs',
      'list,watch | discovery. | endpointslices',
    ],
    subjects: ['User system:kube-proxy'],
  },
  'system:persistent-volume-provisioner': {
    rules: [
      'create,delete,get,list,watch | core | persistentvolumes',
      'get,list,update,watch | core | persistentvolumeclaims',
      'get,list,watch | storage. | storageclasses',
      'watch | core | events',
      events,
    ],
  },
  'system:volume-scheduler': {
    rules: [
      'get,list,patch,update,watch | core | persistentvolumes',
      'get,list,watch | storage. | storageclasses',
      'get,list,patch,update,watch | core | persistentvolumeclaims',
    ],
    subjects: ['User system:kube-scheduler'],
  },
};
