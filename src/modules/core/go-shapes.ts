import { asFields, isSet, type Fields } from '../../machinery/fields.js';

/**
 * Objects as Go prints them: all fields of a struct, in its order, under its names. Messages about what must not change
 * show them so, and people compare those messages with what they find in the world.
 *
 * A shape lists fields as `name`, with `=value` behind those whose absence is printed as something else than null.
 */
export type GoShape = readonly GoField[];
interface GoField {
  readonly field: string;
  readonly goName: string;
  readonly absent: unknown;
  readonly inner: ((value: unknown) => unknown) | undefined;
}

export function goShape(text: string, inner: Readonly<Record<string, (value: unknown) => unknown>> = {}): GoShape {
  return text
    .trim()
    .split(/\s+/)
    .map((word) => {
      const [field = '', absent] = word.split('=');
      return { field, goName: goNameOf(field), absent: absentValue(absent), inner: inner[field] };
    });
}

const absentValue = (text: string | undefined): unknown => {
  if (text === undefined) return null;
  if (text === "''") return '';
  return text === 'false' ? false : Number(text);
};

export function goObject(value: unknown, shape: GoShape): Fields {
  const object = asFields(value);
  return Object.fromEntries(
    shape.map(({ field, goName, absent, inner }) => {
      const found = object[field];
      return [goName, isSet(found) ? (inner ?? goValue)(found) : absent];
    }),
  );
}

export const goList =
  (shape: GoShape) =>
  (value: unknown): unknown =>
    Array.isArray(value) ? value.map((item) => goObject(item, shape)) : value;

/** Structs without a shape of their own: what there is, under the names of Go. */
function goValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(goValue);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([field, inner]) => [goNameOf(field), goValue(inner)]));
}

/** Maps keep their keys, in order. */
export const goMap = (value: unknown): unknown =>
  Object.fromEntries(Object.entries(asFields(value)).sort(([a], [b]) => (a < b ? -1 : 1)));

const words: Readonly<Record<string, string>> = {
  apiGroup: 'APIGroup',
  cephfs: 'CephFS',
  storageos: 'StorageOS',
  tty: 'TTY',
  os: 'OS',
  setHostnameAsFQDN: 'SetHostnameAsFQDN',
};
const initials = /^(?:dns|nfs|rbd|iscsi|fc|csi|gce|aws|fs|se(?=Linux))(?![a-z])/;

function goNameOf(field: string): string {
  if (Object.hasOwn(words, field)) return words[field]!;
  const upper = field.replace(initials, (initial) => initial.toUpperCase());
  return upper.slice(0, 1).toUpperCase() + upper.slice(1);
}

const asIs = (value: unknown): unknown => value;
const amounts = goShape('limits requests', { limits: goMap, requests: goMap });

/** Label selectors are printed in their own JSON. */
export const claimShape = goShape(
  `accessModes selector resources volumeName='' storageClassName volumeMode dataSource dataSourceRef
   volumeAttributesClassName`,
  { selector: asIs, resources: (value) => goObject(value, amounts) },
);

export const volumeSourceShape = goShape(
  `gcePersistentDisk awsElasticBlockStore hostPath glusterfs nfs rbd quobyte iscsi flexVolume cinder cephfs fc flocker
   azureFile vsphereVolume azureDisk photonPersistentDisk portworxVolume scaleIO local storageos csi`,
  {
    hostPath: (value) => goObject(value, goShape("path='' type")),
    nfs: (value) => goObject(value, goShape("server='' path='' readOnly=false")),
  },
);

const containerShape = goShape(
  `name='' image='' command args workingDir='' ports envFrom env resources resizePolicy restartPolicy restartPolicyRules
   volumeMounts volumeDevices livenessProbe readinessProbe startupProbe lifecycle terminationMessagePath=''
   terminationMessagePolicy='' imagePullPolicy='' securityContext stdin=false stdinOnce=false tty=false`,
  { resources: (value) => goObject(value, goShape('limits requests claims', { limits: goMap, requests: goMap })) },
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
    securityContext: (value) => goObject(value, podSecurityShape),
    tolerations: goList(goShape("key='' operator='' value='' effect='' tolerationSeconds")),
  },
);

/** What a pod shares with its host is part of its security there. */
export function goPodSpec(spec: Fields): Fields {
  const shared = Object.fromEntries(
    ['hostNetwork', 'hostPID', 'hostIPC', 'shareProcessNamespace', 'hostUsers'].map((field) => [field, spec[field]]),
  );
  const securityContext = { ...asFields(spec['securityContext']), ...shared };
  return goObject({ ...spec, securityContext }, podShape);
}
