import { asFields, type Fields } from '../../machinery/fields.js';
import { goList, goMap, goShape, goStruct } from '../../machinery/go-value.js';

/** Messages about what must not change in pods, claims and volumes show them whole. */
const asIs = (value: unknown): unknown => value;
const amounts = goShape('limits requests', { limits: goMap, requests: goMap });

/** Label selectors are printed in their own JSON. */
export const claimShape = goShape(
  `accessModes selector resources volumeName='' storageClassName volumeMode dataSource dataSourceRef
   volumeAttributesClassName`,
  { selector: asIs, resources: (value) => goStruct(value, amounts) },
);

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

/** What a pod shares with its host is part of its security there. */
export function goPodSpec(spec: Fields): Fields {
  const shared = Object.fromEntries(
    ['hostNetwork', 'hostPID', 'hostIPC', 'shareProcessNamespace', 'hostUsers'].map((field) => [field, spec[field]]),
  );
  const securityContext = { ...asFields(spec['securityContext']), ...shared };
  return goStruct({ ...spec, securityContext }, podShape);
}
