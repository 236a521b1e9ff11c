type Texts = Readonly<Record<string, string>>;

/** Returns the text of a field in `kubectl explain`, or of the type itself if `field` is ''. Most fields have none. */
export function describeField(struct: string, field: string): string | undefined {
  const own = texts[struct]?.[field];
  if (own !== undefined || field === '') return own;
  if (struct.endsWith('Condition')) return conditionFields[field];
  if (struct.endsWith('List')) return listFields[field];
  return struct.endsWith('Status') ? statusFields[field] : commonFields[field];
}

/** Fields with the same text in every type that has no text of its own for them. */
const commonFields: Texts = {
  metadata: 'Standard metadata of the object: name, namespace, labels, annotations, owners.',
  spec: 'Desired state of the object, set by its author.',
  status: 'Observed state of the object, set by the controllers that act on it. Read-only for other clients.',
};

const statusFields: Texts = {
  conditions: 'Latest observations of the state of the object, one for each condition type.',
  observedGeneration: 'The metadata.generation that the controller had processed when it wrote this status.',
};

const listFields: Texts = {
  items: 'Objects of the list.',
  metadata: 'Standard metadata of the list: its resourceVersion, and the token of the next page.',
};

const conditionFields: Texts = {
  type: 'Name of the condition in CamelCase, for example Ready.',
  status: 'State of the condition: True, False or Unknown.',
  reason: 'Cause of the last transition, as one CamelCase word for programs.',
  message: 'Details of the last transition, for people.',
  lastTransitionTime: 'Time at which the status of the condition last changed.',
};

const minReadySeconds = 'Number of seconds that a new Pod must be ready before it counts as available. Default: 0.';
const immutableData = 'If true, only the metadata of the object can be changed. Cannot be set back to false.';

export const texts: Readonly<Record<string, Texts>> = {
  'meta.v1.TypeMeta': {
    apiVersion: 'APIVersion defines the API group and version that this object is written in.',
    kind: 'Kind of the object, in CamelCase. Cannot be changed.',
  },
  'meta.v1.ObjectMeta': {
    '': 'Metadata that every persisted object has.',
    annotations: 'Arbitrary keys and values that tools store with the object. Selectors cannot match them.',
    creationTimestamp: 'Time at which the server created the object. Set by the server; read-only.',
    deletionGracePeriodSeconds:
      'Number of seconds that the object may take to terminate. Set by the server on deletion; can only be shortened.',
    deletionTimestamp:
      'Time at which the object is due to be removed. Set by the server on graceful deletion; read-only, cannot be unset.',
    finalizers:
      'Identifiers of components that must act before the object is removed. Each component deletes its own entry.',
    generateName: 'Prefix of the name that the server generates if name is empty. The server adds a random suffix.',
    generation: 'Sequence number of the desired state. Incremented by the server when the spec changes; read-only.',
    labels: 'Keys and values that classify the object. Label selectors match them.',
    managedFields: 'Fields of the object by the manager that set them. Maintained by the server for server-side apply.',
    name: 'Name of the object, unique for its resource in its namespace. Cannot be changed.',
    namespace: 'Namespace in which the name is unique. Empty for cluster-scoped objects. Cannot be changed.',
    ownerReferences:
      'Objects that this object depends on. The garbage collector deletes the object once none of them exists.',
    resourceVersion:
      'Opaque version of the stored object, changed by every write. An update that names another version is a conflict.',
    selfLink: 'Deprecated: the server no longer sets this field.',
    uid: 'Unique identifier of the object in time and space, set by the server. A recreated object gets another one.',
  },
  'meta.v1.ListMeta': {
    continue: 'Token for the next page, to be sent with the same request. Empty on the last page.',
    remainingItemCount: 'Number of objects on later pages. Absent if selectors are used, or if it is unknown.',
    resourceVersion: 'Resource version at which the list was read. A watch can start from it.',
  },
  'meta.v1.LabelSelector': {
    '': 'Query over labels. All requirements must hold; an empty selector matches every object.',
    matchExpressions: 'Requirements on label keys. All must hold.',
    matchLabels: 'Labels that an object must have, with exactly these values.',
  },
  'meta.v1.LabelSelectorRequirement': {
    key: 'Label key that the requirement applies to.',
    operator: 'Relation of the label to the values: In, NotIn, Exists or DoesNotExist.',
    values: 'Label values to compare with. Required for In and NotIn, forbidden for Exists and DoesNotExist.',
  },
  'meta.v1.OwnerReference': {
    blockOwnerDeletion: 'If true, a foreground deletion of the owner waits until this object is removed.',
    controller: 'If true, the owner is the controller that manages this object. At most one owner is.',
  },
  'meta.v1.DeleteOptions': {
    dryRun: 'Stages to run without persisting the deletion. The only value is All.',
    gracePeriodSeconds: 'Number of seconds that the object may take to terminate. 0 deletes it immediately.',
    preconditions: 'UID and resource version that the object must have. Otherwise the request fails with 409 Conflict.',
    propagationPolicy:
      'Treatment of dependents: Orphan keeps them, Background deletes them afterwards, Foreground deletes them first.',
  },
  'meta.v1.Status': {
    '': 'Result of a request that returns no object, mostly an error.',
    code: 'HTTP status code of the response.',
    details: 'Resource, causes and retry delay of an error, for programs.',
    message: 'Description of the result, for people.',
    reason: 'Cause of an error as one CamelCase word, for example NotFound or Conflict.',
    status: 'Result of the request: Success or Failure.',
  },
  'core.v1.Pod': { '': 'Group of containers that run on one node and share its network address and volumes.' },
  'core.v1.PodSpec': {
    activeDeadlineSeconds: 'Number of seconds that the Pod may be active on its node before the kubelet fails it.',
    affinity: 'Scheduling constraints on nodes and on other Pods, required or preferred.',
    automountServiceAccountToken:
      'If false, no service account token is mounted into the containers. Overrides the setting of the ServiceAccount.',
    containers: 'Containers of the Pod, at least one. Containers cannot be added or removed later.',
    dnsConfig: 'DNS servers, search domains and options that are added to those of dnsPolicy.',
    dnsPolicy: 'Source of the DNS settings: ClusterFirst (default), ClusterFirstWithHostNet, Default or None.',
    enableServiceLinks:
      'If true, addresses of Services in the namespace are set as environment variables. Default: true.',
    ephemeralContainers:
      'Temporary containers for debugging a running Pod. Added through the ephemeralcontainers subresource.',
    hostAliases: 'Entries that the kubelet adds to /etc/hosts of the Pod.',
    hostIPC: 'If true, the containers use the IPC namespace of the node. Default: false.',
    hostNetwork:
      'If true, the containers use the network of the node, and their ports must be free there. Default: false.',
    hostPID: 'If true, the containers use the process namespace of the node. Default: false.',
    hostname: 'Host name of the Pod. Default: the name of the Pod.',
    imagePullSecrets: 'Secrets in the namespace of the Pod with credentials for pulling images.',
    initContainers:
      'Containers that run to completion one after another before the others start. With restartPolicy Always: sidecars.',
    nodeName: 'Name of the node that runs the Pod. Set by the scheduler; if set on creation, the Pod is not scheduled.',
    nodeSelector: 'Labels that a node must have to run the Pod.',
    os: 'Operating system of the containers. Some security settings are only valid for one of them.',
    overhead: 'Resources that the Pod needs besides its containers. Set on admission from the RuntimeClass.',
    priority:
      'Scheduling priority of the Pod. Set on admission from priorityClassName; a higher one may preempt a lower one.',
    priorityClassName: 'Name of the PriorityClass of the Pod. Default: the global default class, or priority 0.',
    readinessGates: 'Condition types that must be True, besides ready containers, before the Pod is Ready.',
    resources: 'Requests and limits for all containers of the Pod together.',
    restartPolicy: 'Restart policy of the containers: Always (default), OnFailure or Never.',
    runtimeClassName: 'Name of the RuntimeClass that runs the Pod. Default: the runtime of the node.',
    schedulerName: 'Name of the scheduler that assigns the Pod to a node. Default: default-scheduler.',
    schedulingGates:
      'Gates that keep the Pod from being scheduled. Can be set only on creation; controllers remove them.',
    securityContext: 'User, group and security settings of all containers. Those of a container take precedence.',
    serviceAccountName: 'ServiceAccount that the Pod uses to talk to the API. Default: default.',
    shareProcessNamespace: 'If true, the containers share one process namespace. Default: false.',
    subdomain: 'Subdomain of the Pod: its host name becomes <hostname>.<subdomain>.<namespace>.svc.<cluster domain>.',
    terminationGracePeriodSeconds:
      'Number of seconds between the request to terminate and the forced kill. 0 kills immediately. Default: 30.',
    tolerations: 'Node taints that do not keep the Pod off a node.',
    topologySpreadConstraints: 'Rules for spreading matching Pods evenly over zones, nodes or other topology domains.',
    volumes: 'Volumes that the containers of the Pod can mount.',
  },
  'core.v1.PodStatus': {
    containerStatuses: 'State of each container, reported by the kubelet.',
    hostIP: 'IP address of the node that runs the Pod.',
    phase: 'Summary of the lifecycle of the Pod: Pending, Running, Succeeded, Failed or Unknown.',
    podIP: 'Primary IP address of the Pod. Empty until one is allocated.',
    podIPs: 'IP addresses of the Pod, at most one for each IP family. The first one equals podIP.',
    qosClass: 'Quality of service class from requests and limits: Guaranteed, Burstable or BestEffort (evicted first).',
    startTime: 'Time at which the kubelet acknowledged the Pod, before it pulled images.',
  },
  'core.v1.Container': {
    '': 'Process with its image, environment, resources and volume mounts.',
    args: 'Arguments of the command. Default: CMD of the image. References $(NAME) to environment variables are expanded.',
    command: 'Command that is run, without a shell. Default: ENTRYPOINT of the image. References $(NAME) are expanded.',
    env: 'Environment variables. If a name occurs twice, the last entry takes precedence.',
    envFrom:
      'ConfigMaps and Secrets of which every entry becomes an environment variable. Entries of env take precedence.',
    image: 'Image that the container runs, for example registry.example/app:1.2 or with @sha256:<digest>.',
    imagePullPolicy:
      'Condition for pulling the image: Always, IfNotPresent or Never. Default: Always for the tag :latest, else IfNotPresent.',
    lifecycle: 'Handlers that the kubelet runs after the start and before the termination of the container.',
    livenessProbe: 'Periodic check of the container. The kubelet restarts the container when it fails.',
    name: 'Name of the container, unique in the Pod. Cannot be changed.',
    ports: 'Ports that the process listens on. Informational: ports that are not listed can be reached too.',
    readinessProbe: 'Periodic check of the container. While it fails, Services do not route traffic to the Pod.',
    resources: 'Compute resources that the container requests, and limits of their use.',
    restartPolicy: 'Restart policy of this container. Overrides the policy of the Pod.',
    securityContext: 'User, group and security settings of the container. They take precedence over those of the Pod.',
    startupProbe: 'Check of the start of the container. The other probes begin once it has succeeded.',
    stdin: 'If true, a buffer for standard input is allocated, which kubectl attach needs. Default: false.',
    terminationMessagePath:
      'File whose content becomes the termination message in the container status. Default: /dev/termination-log.',
    tty: 'If true, a terminal is allocated for the process. Requires stdin. Default: false.',
    volumeDevices: 'Block devices of the container, from volumes of the Pod.',
    volumeMounts: 'Volumes of the Pod that are mounted into the file system of the container.',
    workingDir: 'Working directory of the process. Default: the one of the image.',
  },
  'core.v1.ContainerPort': {
    containerPort: 'Port number on the IP address of the Pod.',
    hostPort: 'Port number on the node that is forwarded to the container.',
    name: 'Name of the port, unique in the Pod. Services can refer to it.',
    protocol: 'Protocol of the port: TCP (default), UDP or SCTP.',
  },
  'core.v1.EnvVar': {
    name: 'Name of the environment variable.',
    value: 'Value of the variable. References $(NAME) to variables defined before it are expanded.',
    valueFrom:
      'Source of the value: a field of the Pod or container, or a key of a ConfigMap or Secret. Excludes value.',
  },
  'core.v1.Probe': {
    failureThreshold: 'Number of consecutive failures after which the probe counts as failed. Default: 3.',
    initialDelaySeconds: 'Number of seconds between the start of the container and the first check. Default: 0.',
    periodSeconds: 'Number of seconds between two checks. Default: 10.',
    successThreshold: 'Number of consecutive successes after which a failed probe counts as succeeded. Default: 1.',
    timeoutSeconds: 'Number of seconds after which a check without an answer fails. Default: 1.',
  },
  'core.v1.ProbeHandler': {
    exec: 'Command run in the container. Succeeds if it exits with 0.',
    grpc: 'Call of the gRPC health service. Succeeds if it answers SERVING.',
    httpGet: 'HTTP GET request. Succeeds if the status code is at least 200 and below 400.',
    tcpSocket: 'TCP connection. Succeeds if the port accepts it.',
  },
  'core.v1.ResourceRequirements': {
    claims: 'Entries of spec.resourceClaims of the Pod that the container uses.',
    limits: 'Maximum amount of each resource that the container may use.',
    requests: 'Amount of each resource that the scheduler reserves. Default: the limit, if one is set.',
  },
  'core.v1.SecurityContext': {
    allowPrivilegeEscalation: 'If true, a process may gain more privileges than its parent process.',
    capabilities: 'Linux capabilities that are added to or dropped from those that the container runtime grants.',
    privileged: 'If true, the container has all privileges of root on the node. Default: false.',
    readOnlyRootFilesystem: 'If true, the root file system of the container is mounted read-only. Default: false.',
    runAsNonRoot: 'If true, the kubelet refuses to start a container that would run as user 0.',
    runAsUser: 'UID of the process. Default: the user of the image.',
  },
  'core.v1.Volume': {
    '': 'Directory or block device that the containers of a Pod can mount.',
    name: 'Name of the volume, unique in the Pod. Volume mounts refer to it.',
  },
  'core.v1.VolumeSource': {
    configMap: 'Files with the entries of a ConfigMap.',
    csi: 'Ephemeral volume of a CSI driver. Exists as long as the Pod.',
    downwardAPI: 'Files with fields of the Pod.',
    emptyDir: 'Directory that is empty at first and is deleted with the Pod.',
    ephemeral: 'PersistentVolumeClaim that is created and deleted with the Pod.',
    hostPath: 'File or directory of the node.',
    image: 'Content of an OCI image or artifact, mounted read-only.',
    nfs: 'Directory on an NFS server.',
    persistentVolumeClaim: 'PersistentVolumeClaim in the namespace of the Pod.',
    projected: 'Directory that combines Secrets, ConfigMaps, fields of the Pod and service account tokens.',
    secret: 'Files with the entries of a Secret.',
  },
  'core.v1.VolumeMount': {
    mountPath: 'Path in the container at which the volume is mounted.',
    name: 'Name of the volume in spec.volumes of the Pod.',
    readOnly: 'If true, the volume is mounted read-only. Default: false.',
    subPath: 'Path inside the volume that is mounted. Default: the root of the volume.',
  },
  'core.v1.Service': { '': 'Stable address and DNS name for a set of Pods.' },
  'core.v1.ServiceSpec': {
    clusterIP:
      'Virtual IP address of the Service, allocated by the server unless set. None makes a headless Service without one.',
    externalIPs:
      'Additional IP addresses for which nodes accept traffic to the Service. Routing to nodes is up to the user.',
    externalName: 'DNS name that the name of the Service is an alias (CNAME) of. Only for type ExternalName.',
    externalTrafficPolicy:
      'Routing of traffic from outside: Cluster (default) to all Pods, Local only to Pods of the receiving node, with the client IP kept.',
    internalTrafficPolicy: 'Routing of traffic from inside the cluster: Cluster (default) or Local.',
    ipFamilies: 'IP families of the Service, IPv4 and IPv6. The first one is the primary and cannot be changed.',
    ipFamilyPolicy: 'Use of IP families: SingleStack (default), PreferDualStack or RequireDualStack.',
    loadBalancerClass:
      'Class of the load balancer implementation. Only for type LoadBalancer. Cannot be changed once set.',
    ports: 'Ports that the Service exposes.',
    publishNotReadyAddresses: 'If true, addresses of Pods that are not ready are published too. Default: false.',
    selector: 'Labels of the Pods that receive the traffic. If empty, endpoints are managed by another component.',
    sessionAffinity:
      'Assignment of clients to Pods: None (default), or ClientIP for the same Pod for every connection.',
    type: 'Exposure of the Service: ClusterIP (default), NodePort, LoadBalancer or ExternalName.',
  },
  'core.v1.ServicePort': {
    appProtocol: 'Application protocol of the port, for example kubernetes.io/h2c. A hint for implementations.',
    name: 'Name of the port, unique in the Service. Required if there are several ports.',
    nodePort: 'Port number on every node, for types NodePort and LoadBalancer. Allocated by the server unless set.',
    port: 'Port number of the Service.',
    targetPort: 'Number or name of the port of the Pods. Default: the value of port.',
  },
  'core.v1.ConfigMap': {
    '': 'Configuration data for Pods, as keys and values.',
    binaryData: 'Values that are not UTF-8 text, encoded in base64. Keys must not occur in data.',
    data: 'Values that are UTF-8 text. Keys must not occur in binaryData.',
    immutable: immutableData,
  },
  'core.v1.Secret': {
    '': 'Confidential data for Pods, as keys and values.',
    data: 'Values, encoded in base64.',
    immutable: immutableData,
    stringData: 'Values as plain text. Write-only: the server encodes them into data, where they take precedence.',
    type: 'Type of the data, which determines the required keys. Default: Opaque. Cannot be changed.',
  },
  'core.v1.Namespace': { '': 'Scope for names of objects, access rights and resource quotas.' },
  'core.v1.NamespaceSpec': {
    finalizers: 'Finalizers that must be removed through the finalize subresource before the namespace is removed.',
  },
  'core.v1.Node': { '': 'Machine of the cluster on which Pods run.' },
  'core.v1.NodeSpec': {
    podCIDR: 'IP range for the Pods of the node. Set by the controller that allocates ranges.',
    providerID: 'Identifier of the machine at the cloud provider. Set by the cloud provider or the kubelet.',
    taints: 'Taints that repel Pods without a matching toleration.',
    unschedulable: 'If true, the scheduler places no new Pods on the node. Set by kubectl cordon.',
  },
  'core.v1.ServiceAccount': { '': 'Identity of programs that talk to the API.' },
  'core.v1.PersistentVolume': {
    '': 'Storage resource of the cluster, provisioned by an administrator or a StorageClass.',
  },
  'core.v1.PersistentVolumeClaim': { '': 'Request for storage, which is bound to a PersistentVolume.' },
  'core.v1.PersistentVolumeClaimSpec': {
    accessModes: 'Required access modes: ReadWriteOnce, ReadOnlyMany, ReadWriteMany or ReadWriteOncePod.',
    resources: 'Minimum size of the storage, as requests.storage.',
    storageClassName:
      'Name of the StorageClass. An empty string requests a volume without a class. Default: the default StorageClass.',
    volumeMode: 'Form of the volume in containers: Filesystem (default) or Block.',
    volumeName: 'Name of the bound PersistentVolume. Set on binding, or by the user to request a specific volume.',
  },
  'core.v1.Event': { '': 'Report of something that happened to an object. Deleted after a retention time.' },
  'core.v1.PodTemplateSpec': { '': 'Template from which a controller creates Pods.' },
  'apps.v1.Deployment': { '': 'Controller of stateless Pods, with rolling updates through ReplicaSets.' },
  'apps.v1.DeploymentSpec': {
    minReadySeconds,
    paused: 'If true, changes of the template are not rolled out.',
    progressDeadlineSeconds:
      'Number of seconds without progress after which the condition Progressing becomes False. Default: 600.',
    replicas: 'Desired number of Pods. Default: 1.',
    revisionHistoryLimit: 'Number of old ReplicaSets that are kept for a rollback. Default: 10.',
    selector: 'Selector of the Pods of the Deployment. Must match the labels of the template. Cannot be changed.',
    strategy: 'Strategy for replacing old Pods by new ones.',
    template: 'Template of the Pods. A change starts a rollout.',
  },
  'apps.v1.DeploymentStrategy': {
    rollingUpdate: 'Parameters of the type RollingUpdate.',
    type: 'Type of the strategy: RollingUpdate (default), or Recreate, which first deletes all old Pods.',
  },
  'apps.v1.RollingUpdateDeployment': {
    maxSurge: 'Number or percentage of Pods above the desired number during an update. Default: 25%.',
    maxUnavailable: 'Number or percentage of Pods that may be unavailable during an update. Default: 25%.',
  },
  'apps.v1.ReplicaSet': { '': 'Controller that keeps a number of identical Pods running.' },
  'apps.v1.StatefulSet': { '': 'Controller of Pods with stable names and storage of their own.' },
  'apps.v1.StatefulSetSpec': {
    minReadySeconds,
    podManagementPolicy:
      'Order of creation and deletion of Pods: OrderedReady (default, one after another) or Parallel. Cannot be changed.',
    replicas: 'Desired number of Pods. Default: 1.',
    revisionHistoryLimit: 'Number of old ControllerRevisions that are kept for a rollback. Default: 10.',
    selector: 'Selector of the Pods of the StatefulSet. Must match the labels of the template. Cannot be changed.',
    serviceName: 'Name of the headless Service that gives the Pods their DNS names. Cannot be changed.',
    template: 'Template of the Pods, which are named <statefulset>-<ordinal>.',
    updateStrategy: 'Strategy for updating Pods when the template changes: RollingUpdate (default) or OnDelete.',
    volumeClaimTemplates: 'Templates of the PersistentVolumeClaims that are created for each Pod. Cannot be changed.',
  },
  'apps.v1.DaemonSet': { '': 'Controller that runs one Pod on every node, or on the nodes that its template selects.' },
  'apps.v1.DaemonSetSpec': {
    minReadySeconds,
    revisionHistoryLimit: 'Number of old ControllerRevisions that are kept for a rollback. Default: 10.',
    selector: 'Selector of the Pods of the DaemonSet. Must match the labels of the template. Cannot be changed.',
    template: 'Template of the Pods. Its node selector and affinity choose the nodes.',
  },
  'batch.v1.Job': { '': 'Controller that runs Pods until a number of them have succeeded.' },
  'batch.v1.JobSpec': {
    activeDeadlineSeconds: 'Number of seconds that the Job may be active before it fails and its Pods are terminated.',
    backoffLimit: 'Number of failed Pods that are retried before the Job fails. Default: 6.',
    completionMode: 'Completion of the Job: NonIndexed (default), or Indexed, which gives each Pod a completion index.',
    completions: 'Number of Pods that must succeed.',
    parallelism: 'Maximum number of Pods that run at the same time. Default: 1.',
    suspend: 'If true, no Pods are created, and running ones are deleted. Default: false.',
    template: 'Template of the Pods. Its restartPolicy must be OnFailure or Never.',
    ttlSecondsAfterFinished: 'Number of seconds after which a finished Job is deleted. If unset, it is kept.',
  },
  'batch.v1.CronJob': { '': 'Controller that creates Jobs on a schedule.' },
  'batch.v1.CronJobSpec': {
    concurrencyPolicy:
      'Treatment of a run that is due while the last one is active: Allow (default), Forbid or Replace.',
    jobTemplate: 'Template of the Jobs.',
    schedule: 'Schedule in cron format: minute, hour, day of month, month, day of week.',
    startingDeadlineSeconds:
      'Number of seconds after its scheduled time within which a missed Job may still be started.',
    suspend: 'If true, no further Jobs are created. Running ones continue. Default: false.',
    timeZone: 'Time zone of the schedule, for example Europe/Berlin. Default: the one of kube-controller-manager.',
  },
  'networking.v1.Ingress': {
    '': 'Rules that route HTTP traffic from outside the cluster to Services, by host and path.',
  },
  'networking.v1.IngressSpec': {
    defaultBackend: 'Backend of requests that match no rule.',
    ingressClassName: 'Name of the IngressClass, which selects the controller that implements the Ingress.',
    rules: 'Hosts and paths with their backends.',
    tls: 'Secrets with TLS certificates, by host.',
  },
  'networking.v1.NetworkPolicy': { '': 'Network traffic that is allowed to and from the selected Pods.' },
  'rbac.v1.Role': { '': 'Set of permissions in one namespace.', rules: 'Permissions of the Role.' },
  'rbac.v1.ClusterRole': {
    '': 'Set of permissions in all namespaces, and on cluster-scoped resources.',
    rules: 'Permissions of the ClusterRole.',
  },
  'rbac.v1.RoleBinding': {
    '': 'Grant of a Role or ClusterRole to users, groups and ServiceAccounts in one namespace.',
    roleRef: 'Role in the same namespace, or ClusterRole, that is granted. Cannot be changed.',
    subjects: 'Users, groups and ServiceAccounts that get the permissions.',
  },
  'rbac.v1.ClusterRoleBinding': {
    '': 'Grant of a ClusterRole to users, groups and ServiceAccounts in the whole cluster.',
    roleRef: 'ClusterRole that is granted. Cannot be changed.',
    subjects: 'Users, groups and ServiceAccounts that get the permissions.',
  },
  'rbac.v1.PolicyRule': {
    apiGroups: 'API groups of the resources. The empty string is the core group, * stands for all.',
    nonResourceURLs: 'URL paths that are not resources, only in ClusterRoles. A trailing * matches any suffix.',
    resourceNames: 'Names of the objects that the rule applies to. If empty, it applies to all.',
    resources: 'Resources, or subresources as resource/subresource. * stands for all.',
    verbs: 'Allowed verbs, for example get, list, watch, create, update, patch and delete. * stands for all.',
  },
  'autoscaling.v2.HorizontalPodAutoscaler': {
    '': 'Controller that adapts the number of replicas of a workload to metrics.',
  },
  'policy.v1.PodDisruptionBudget': {
    '': 'Limit of the number of Pods that evictions may make unavailable at the same time.',
  },
  'coordination.v1.Lease': { '': 'Lock with an expiry time, used for leader election and node heartbeats.' },
};
