import type { BootRole } from './boot-role.js';

/**
 * ClusterRoles for users: those that operators bind, and those of all authenticated users. Read from the API of a 1.36
 * control plane.
 */
export const userRoles: Readonly<Record<string, BootRole>> = {
  'cluster-admin': { rules: ['* | * | *', '* | *'], subjects: ['Group system:masters'] },
  admin: { aggregates: 'admin' },
  edit: { aggregatedTo: 'admin', aggregates: 'edit' },
  view: { aggregatedTo: 'edit', aggregates: 'view' },
  'system:aggregate-to-admin': {
    aggregatedTo: 'admin',
    rules: [
      'create | authorization. | localsubjectaccessreviews',
      'create,delete,deletecollection,get,list,patch,update,watch | rbac.authorization. | rolebindings,roles',
    ],
  },
  'system:aggregate-to-edit': {
    aggregatedTo: 'edit',
    rules: [
      'get,list,watch | core | pods/attach,pods/exec,pods/portforward,pods/proxy,secrets,services/proxy',
      'impersonate | core | serviceaccounts',
      'create,delete,deletecollection,patch,update | core | pods,pods/attach,pods/exec,pods/portforward,pods/proxy',
      'create | core | pods/eviction',
      'create,delete,deletecollection,patch,update | core | configmaps,persistentvolumeclaims,replicationcontrollers,replicationcontrollers/scale,secrets,serviceaccounts,services,services/proxy',
      'create | core | serviceaccounts/token',
      'create,delete,deletecollection,patch,update | core,events. | events',
      'create,delete,deletecollection,patch,update | apps | daemonsets,deployments,deployments/rollback,deployments/scale,replicasets,replicasets/scale,statefulsets,statefulsets/scale',
      'create,delete,deletecollection,patch,update | autoscaling | horizontalpodautoscalers',
      'create,delete,deletecollection,patch,update | batch | cronjobs,jobs',
      'create,delete,deletecollection,patch,update | extensions | daemonsets,deployments,deployments/rollback,deployments/scale,ingresses,networkpolicies,replicasets,replicasets/scale,replicationcontrollers/scale',
      'create,delete,deletecollection,patch,update | policy | poddisruptionbudgets',
      'create,delete,deletecollection,patch,update | networking. | ingresses,networkpolicies',
      'create,delete,deletecollection,get,list,patch,update,watch | coordination. | leases',
      'create,delete,deletecollection,patch,update | resource. | resourceclaims,resourceclaimtemplates',
    ],
  },
  'system:aggregate-to-view': {
    aggregatedTo: 'view',
    rules: [
      'get,list,watch | core | configmaps,endpoints,persistentvolumeclaims,persistentvolumeclaims/status,pods,replicationcontrollers,replicationcontrollers/scale,serviceaccounts,services,services/status',
      'get,list,watch | core | bindings,limitranges,namespaces/status,pods/log,pods/status,replicationcontrollers/status,resourcequotas,resourcequotas/status',
      'get,list,watch | core | namespaces',
      'get,list,watch | core,events. | events',
      'get,list,watch | discovery. | endpointslices',
      'get,list,watch | apps | controllerrevisions,daemonsets,daemonsets/status,deployments,deployments/scale,deployments/status,replicasets,replicasets/scale,replicasets/status,statefulsets,statefulsets/scale,statefulsets/status',
      'get,list,watch | autoscaling | horizontalpodautoscalers,horizontalpodautoscalers/status',
      'get,list,watch | batch | cronjobs,cronjobs/status,jobs,jobs/status',
      'get,list,watch | extensions | daemonsets,daemonsets/status,deployments,deployments/scale,deployments/status,ingresses,ingresses/status,networkpolicies,replicasets,replicasets/scale,replicasets/status,replicationcontrollers/scale',
      'get,list,watch | policy | poddisruptionbudgets,poddisruptionbudgets/status',
      'get,list,watch | networking. | ingresses,ingresses/status,networkpolicies',
      'get,list,watch | resource. | resourceclaims,resourceclaims/status,resourceclaimtemplates',
    ],
  },
  'system:basic-user': {
    rules: [
      'create | authorization. | selfsubjectaccessreviews,selfsubjectrulesreviews',
      'create | authentication. | selfsubjectreviews',
    ],
    subjects: ['Group system:authenticated'],
  },
  'system:discovery': {
    rules: ['get | /api,/api/*,/apis,/apis/*,/healthz,/livez,/openapi,/openapi/*,/readyz,/version,/version/'],
    subjects: ['Group system:authenticated'],
  },
  'system:public-info-viewer': {
    rules: ['get | /healthz,/livez,/readyz,/version,/version/'],
    subjects: ['Group system:authenticated', 'Group system:unauthenticated'],
  },
  'system:monitoring': {
    rules: [
      'get | /flagz,/healthz,/healthz/*,/livez,/livez/*,/metrics,/metrics/slis,/readyz,/readyz/*,/statusz',
      'get | core | nodes/metrics',
    ],
    subjects: ['Group system:monitoring'],
  },
  'system:service-account-issuer-discovery': {
    rules: [
      'get | /.well-known/openid-configuration,/.well-known/openid-configuration/,/openid/v1/jwks,/openid/v1/jwks/',
    ],
    subjects: ['Group system:serviceaccounts'],
  },
  'system:auth-delegator': {
    rules: ['create | authentication. | tokenreviews', 'create | authorization. | subjectaccessreviews'],
  },
};
