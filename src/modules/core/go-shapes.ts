import type { PodSpec } from '../../catalog/types/core.v1.js';
import { goList, goMap, goShape, goStruct } from '../../machinery/go-value.js';

/** Returns the value unchanged: a LabelSelector is printed with its JSON field names. */
const asIs = (value: unknown): unknown => value;
const amounts = goShape('limits requests', { limits: goMap, requests: goMap });

/** The spec of a PersistentVolumeClaim in messages about immutable fields, which print it with Go field names. */
export const claimShape = goShape(
  `accessModes selector resources volumeName='' storageClassName volumeMode dataSource dataSourceRef
   volumeAttributesClassName`,
  { selector: asIs, resources: (value) => goStruct(value, amounts) },
);

/** The volume source of a PersistentVolume in such messages. */
export const volumeSourceShape = goShape(
  `gcePersistentDisk awsElasticBlockStore hostPath glusterfs nfs rbd quobyte iscsi flexVolume cinder cephfs fc flocker
   azureFile vsphereVolume azureDisk photonPersistentDisk portworxVolume scaleIO local storageos csi`,
  {
    hostPath: (value) => goStruct(value, goShape("path='' type")),
    nfs: (value) => goStruct(value, goShape("server='' path='' readOnly=false")),
  },
);

const containerShape = goShape(
  `name='' image='' command args workingDir='' ports envFrom env resources resizePolicy restartPolicy restartPolicyRules
   volumeMounts volumeDevices livenessProbe readinessProbe startupProbe lifecycle terminationMessagePath=''
   terminationMessagePolicy='' imagePullPolicy='' securityContext stdin=false stdinOnce=false tty=false`,
  { resources: (value) => goStruct(value, goShape('limits requests claims', { limits: goMap, requests: goMap })) },
);

/** The securityContext of a container in such messages. */
export const containerSecurityShape = goShape(
  `capabilities privileged seLinuxOptions windowsOptions runAsUser runAsGroup runAsNonRoot readOnlyRootFilesystem
   allowPrivilegeEscalation procMount seccompProfile appArmorProfile`,
  { capabilities: (value) => goStruct(value, goShape('add drop')) },
);

const podSecurityFields = `hostNetwork=false hostPID=false hostIPC=false shareProcessNamespace hostUsers`;
const podSecurityShape = goShape(
  `${podSecurityFields} seLinuxOptions windowsOptions runAsUser runAsGroup runAsNonRoot supplementalGroups
   supplementalGroupsPolicy fsGroup fsGroupChangePolicy sysctls seccompProfile appArmorProfile seLinuxChangePolicy`,
);

const podShape = goShape(
  `volumes initContainers containers ephemeralContainers restartPolicy='' terminationGracePeriodSeconds
   activeDeadlineSeconds dnsPolicy='' nodeSelector serviceAccountName='' automountServiceAccountToken nodeName=''
   securityContext imagePullSecrets hostname='' subdomain='' setHostnameAsFQDN affinity schedulerName='' tolerations
   hostAliases priorityClassName='' priority preemptionPolicy dnsConfig readinessGates runtimeClassName overhead
   enableServiceLinks topologySpreadConstraints os schedulingGates resourceClaims resources hostnameOverride
   schedulingGroup`,
  {
    initContainers: goList(containerShape),
    containers: goList(containerShape),
    nodeSelector: goMap,
    securityContext: (value) => goStruct(value, podSecurityShape),
    tolerations: goList(goShape("key='' operator='' value='' effect='' tolerationSeconds")),
  },
);

/** Returns a PodSpec for such messages. Its host namespaces are part of the Go struct of securityContext. */
export function goPodSpec(spec: PodSpec): Record<string, unknown> {
  const { hostNetwork, hostPID, hostIPC, shareProcessNamespace, hostUsers } = spec;
  const shared = { hostNetwork, hostPID, hostIPC, shareProcessNamespace, hostUsers };
  return goStruct({ ...spec, securityContext: { ...spec.securityContext, ...shared } }, podShape);
}
