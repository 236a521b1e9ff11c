import { pluginDependencies } from '../../test/harness/admission.js';
import { admissionPluginNames, implementedPlugins } from '../config/admission-plugins.js';
import { defineAdmissionPlugin } from './admission-plugin.js';
import { builtInPlugins, makePlugins, withPlugins, type BuiltInPlugin } from './plugins.js';

const names = builtInPlugins.map(({ name }) => String(name));
const runningBy = (enabledPlugins: string[], disabledPlugins: string[] = [], given = {}) =>
  makePlugins(builtInPlugins, pluginDependencies(given), { enabledPlugins, disabledPlugins }).map(({ name }) => name);
const always = builtInPlugins.filter(({ runs }) => runs === 'always').map(({ name }) => String(name));

it('every plug-in is in the list once', () => {
  expect(names).toEqual([...new Set(names)]);
});

it('the list has all plug-ins of the table, and beside them those that always run', () => {
  expect(names.filter((name) => !always.includes(name)).sort()).toEqual(Object.keys(implementedPlugins).sort());
});

it('flags do not accept the names of plug-ins that always run', () => {
  expect(always.filter((name) => admissionPluginNames.includes(name))).toEqual([]);
  expect(always).toContain('RoleEscalation');
});

it('a definition with another name or default than the table does not compile', () => {
  const make = () => ({});
  const wrong: BuiltInPlugin[] = [
    // @ts-expect-error: the table has no such name
    defineAdmissionPlugin({ name: 'Surplus', runs: 'by default', make }),
    // @ts-expect-error: the table has it as `by default`
    defineAdmissionPlugin({ name: 'Priority', runs: 'if enabled', make }),
  ];
  expect(wrong).toHaveLength(2);
});

it.each([
  ['NamespaceLifecycle', 'LimitRanger', 'the namespace must exist before its LimitRanges are read'],
  ['LimitRanger', 'ServiceAccount', 'order of kube-apiserver'],
  ['ServiceAccount', 'PodSecurity', 'the mounted token volume is checked'],
  ['DefaultStorageClass', 'PersistentVolumeClaimResize', 'order of kube-apiserver'],
  ['DefaultStorageClass', 'ResourceQuota', 'storage is counted for its class'],
  ['PodSecurity', 'ResourceQuota', 'only requests that no plug-in refuses are charged'],
  ['ResourceClaimPermissions', 'ResourceQuota', 'only requests that no plug-in refuses are charged'],
])('%s runs before %s: %s', (first, second) => {
  expect(names).toContain(first);
  expect(names.indexOf(first)).toBeLessThan(names.indexOf(second));
});

it('without flags, the plug-ins that are on by default and those that always run are created', () => {
  const table: Readonly<Record<string, string>> = implementedPlugins;
  const expected = names.filter((name) => table[name] === 'by default' || always.includes(name));
  // Privileged containers are allowed unless a flag forbids them.
  expect(runningBy([])).toEqual(expected.filter((name) => name !== 'NoPrivilegedContainers'));
});

it.each([
  { name: 'AlwaysPullImages', enabled: ['AlwaysPullImages'], disabled: [], isOn: true },
  { name: 'PodSecurity', enabled: [], disabled: ['PodSecurity'], isOn: false },
  { name: 'RoleEscalation', enabled: [], disabled: ['RoleEscalation'], isOn: true },
])('$name with enabled $enabled and disabled $disabled runs: $isOn', ({ name, enabled, disabled, isOn }) => {
  expect(runningBy(enabled, disabled).includes(name)).toBe(isOn);
});

it('--allow-privileged=false adds NoPrivilegedContainers', () => {
  expect(runningBy([], [], { allowPrivileged: false })).toContain('NoPrivilegedContainers');
});

it('plug-ins of an embedding program run right before the permission checks and ResourceQuota, in their order', () => {
  const own = ['One', 'Two'].map((name) => defineAdmissionPlugin({ name, runs: 'by default', make: () => ({}) }));
  const all = withPlugins(own).map(({ name }) => name);
  const checks = ['RoleEscalation', 'PodCertificateSigning', 'ResourceClaimPermissions', 'PolicyParamPermissions'];
  const last = ['ValidatingAdmissionPolicy', 'ValidatingAdmissionWebhook', 'ResourceQuota', 'AlwaysDeny'];
  expect(all.slice(all.indexOf('One'))).toEqual(['One', 'Two', ...checks, ...last]);
});

it('a plug-in of an embedding program cannot have the name of a built-in one', () => {
  const own = [defineAdmissionPlugin({ name: 'Priority', runs: 'by default', make: () => ({}) })];
  expect(() => withPlugins(own)).toThrow('admission plug-in Priority is defined twice');
});
