import { kubernetes } from '../../../test/harness/admission.js';
import type { Level, PolicyVersion } from './level.js';
import { formatReasons, formatViolations, PodSecurityStandards } from './standards.js';

const standards = new PodSecurityStandards(kubernetes);
const good = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } };
const goodPod = { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } };
/** Containers a, b, … that conform to `restricted` except for these security contexts. */
const contexts = (...securityContexts: object[]) => ({
  securityContext: goodPod,
  containers: securityContexts.map((context, index) => ({
    name: 'abc'[index],
    securityContext: { ...good, ...context },
  })),
});

interface Row {
  readonly name: string;
  readonly spec: object;
  readonly annotations?: Record<string, string>;
  readonly level?: Level;
  readonly want: string;
}

// prettier-ignore
it.each<Row>([
  { name: 'a conforming Pod has no violation of restricted', spec: contexts({}), level: 'restricted', want: '' },
  { name: 'hostNetwork, hostPID and hostIPC', spec: { hostNetwork: true, hostPID: true, hostIPC: true }, want: 'host namespaces (hostNetwork=true, hostPID=true, hostIPC=true)' },
  { name: 'hostPath volumes', spec: { volumes: [{ name: 'x', hostPath: {} }, { name: 'y', hostPath: {} }] }, want: 'hostPath volumes (volumes "x", "y")' },
  { name: 'hostPort of two containers', spec: { containers: [{ name: 'a', ports: [{ hostPort: 80 }, {}] }, { name: 'b', ports: [{ hostPort: 81 }] }] }, want: 'hostPort (containers "a", "b" use hostPorts 80, 81)' },
  { name: 'host in probes and lifecycle hooks', spec: { containers: [{ name: 'a', livenessProbe: { httpGet: { host: 'h' } }, lifecycle: { preStop: { tcpSocket: { host: 'g' } } } }] }, want: 'probe or lifecycle host (container "a" uses probe or lifecycle hosts "g", "h")' },
  { name: 'privileged containers', spec: contexts({ privileged: true }, {}, { privileged: true }), want: 'privileged (containers "a", "c" must not set securityContext.privileged=true)' },
  { name: 'added capabilities beyond the default ones', spec: contexts({ capabilities: { add: ['SYS_ADMIN', 'CHOWN', 'NET_RAW'] } }), want: 'non-default capabilities (container "a" must not include "NET_RAW", "SYS_ADMIN" in securityContext.capabilities.add)' },
  { name: 'procMount Unmasked', spec: contexts({ procMount: 'Unmasked' }), want: 'procMount (container "a" must not set securityContext.procMount to "Unmasked")' },
  { name: 'seLinuxOptions with type, user and role', spec: { securityContext: { seLinuxOptions: { type: 'x', user: 'u', role: 'r' } } }, want: 'seLinuxOptions (pod set forbidden securityContext.seLinuxOptions: type "x"; user may not be set; role may not be set)' },
  { name: 'seccompProfile Unconfined', spec: contexts({ seccompProfile: { type: 'Unconfined' } }), want: 'seccompProfile (container "a" must not set securityContext.seccompProfile.type to "Unconfined")' },
  { name: 'appArmorProfile Unconfined', spec: { securityContext: { appArmorProfile: { type: 'Unconfined' } } }, want: 'forbidden AppArmor profile (pod must not set AppArmor profile type to "Unconfined")' },
  { name: 'AppArmor profile in an annotation', spec: {}, annotations: { 'container.apparmor.security.beta.kubernetes.io/a': 'x' }, want: 'forbidden AppArmor profile (annotation must not set AppArmor profile type to "container.apparmor.security.beta.kubernetes.io/a=\\"x\\"")' },
  { name: 'unsafe sysctl', spec: { securityContext: { sysctls: [{ name: 'kernel.msgmax' }, { name: 'net.ipv4.tcp_rmem' }] } }, want: 'forbidden sysctls (kernel.msgmax)' },
  { name: 'hostProcess in Pod and container', spec: { securityContext: { windowsOptions: { hostProcess: true } }, containers: [{ name: 'a', securityContext: { windowsOptions: { hostProcess: true } } }] }, want: 'hostProcess (pod and container "a" must not set securityContext.windowsOptions.hostProcess=true)' },
  { name: 'allowPrivilegeEscalation is true', spec: contexts({ allowPrivilegeEscalation: true }), level: 'restricted', want: 'allowPrivilegeEscalation != false (container "a" must set securityContext.allowPrivilegeEscalation=false)' },
  { name: 'capabilities are not dropped', spec: contexts({ capabilities: {} }), level: 'restricted', want: 'unrestricted capabilities (container "a" must set securityContext.capabilities.drop=["ALL"])' },
  { name: 'restricted volume types', spec: { ...contexts({}), volumes: [{ name: 'x', nfs: {} }, { name: 'y', hostPath: {} }, { name: 'z', emptyDir: {} }] }, level: 'restricted', want: 'restricted volume types (volumes "x", "y" use restricted volume types "hostPath", "nfs")' },
  { name: 'runAsNonRoot is not set', spec: { ...contexts({}), securityContext: { ...goodPod, runAsNonRoot: undefined } }, level: 'restricted', want: 'runAsNonRoot != true (pod or container "a" must set securityContext.runAsNonRoot=true)' },
  { name: 'runAsNonRoot is false in a container', spec: contexts({ runAsNonRoot: false }), level: 'restricted', want: 'runAsNonRoot != true (container "a" must not set securityContext.runAsNonRoot=false)' },
  { name: 'runAsUser is 0', spec: contexts({ runAsUser: 0 }), level: 'restricted', want: 'runAsUser=0 (container "a" must not set runAsUser=0)' },
  { name: 'root in a user namespace (hostUsers: false) is allowed', spec: { ...contexts({ runAsUser: 0, runAsNonRoot: false }), hostUsers: false }, level: 'restricted', want: '' },
  { name: 'seccompProfile is not set', spec: { ...contexts({}), securityContext: { runAsNonRoot: true } }, level: 'restricted', want: 'seccompProfile (pod or container "a" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")' },
  { name: 'Linux-only fields are not required on Windows', spec: { os: { name: 'windows' }, securityContext: { runAsNonRoot: true }, containers: [{ name: 'a' }] }, level: 'restricted', want: '' },
])('$name', ({ spec, annotations = {}, level = 'baseline', want }) => {
  expect(formatViolations(standards.violations({ annotations, spec: { ...spec } }, { level, version: 'latest' }))).toBe(want);
});

it.each<{ level: Level; version: PolicyVersion; want: string }>([
  { level: 'privileged', version: 'latest', want: '' },
  { level: 'baseline', version: 'latest', want: 'hostPath volumes, probe or lifecycle host' },
  { level: 'baseline', version: 33, want: 'hostPath volumes' },
  { level: 'restricted', version: 7, want: 'restricted volume types, runAsNonRoot != true' },
  {
    level: 'restricted',
    version: 21,
    want: 'allowPrivilegeEscalation != false, restricted volume types, runAsNonRoot != true, seccompProfile',
  },
  {
    level: 'restricted',
    version: 22,
    want: 'allowPrivilegeEscalation != false, unrestricted capabilities, restricted volume types, runAsNonRoot != true, seccompProfile',
  },
])('the rules of $level:$version', ({ level, version, want }) => {
  const spec = {
    volumes: [{ name: 'h', hostPath: {} }],
    containers: [{ name: 'a', readinessProbe: { tcpSocket: { host: 'h' } } }],
  };
  expect(formatReasons(standards.violations({ annotations: {}, spec }, { level, version }))).toBe(want);
});
