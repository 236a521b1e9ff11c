import { pluginParts } from '../../test/harness/admission.js';
import {
  admissionPluginNames,
  defaultAdmissionPlugins,
  missingAdmissionPlugins,
} from '../config/admission-plugins.js';
import { builtInPlugins, choosePlugins } from './plugins.js';

const plugins = builtInPlugins(pluginParts());
const chosenBy = (enabledPlugins: string[], disabledPlugins: string[] = []) => {
  const { chosen, missing } = choosePlugins(plugins, { enabledPlugins, disabledPlugins });
  return { chosen: chosen.map(({ name }) => name), missing };
};

it('every plug-in has a name that the flags know', () => {
  expect(plugins.map(({ name }) => name).filter((name) => !admissionPluginNames.includes(name))).toEqual([]);
});

it('a plug-in that can be enabled is built in or known to be missing', () => {
  const builtIn = new Set(plugins.map(({ name }) => name));
  const offByDefault = admissionPluginNames.filter((name) => !defaultAdmissionPlugins.includes(name));
  expect(offByDefault.filter((name) => !builtIn.has(name))).toEqual(missingAdmissionPlugins);
});

it.each([
  ['NamespaceLifecycle', 'LimitRanger', 'a namespace is there before it says anything'],
  ['LimitRanger', 'ServiceAccount', 'the order of the reference server'],
  ['ServiceAccount', 'PodSecurity', 'what is added to a Pod is looked at too'],
  ['DefaultStorageClass', 'PersistentVolumeClaimResize', 'the order of the reference server'],
  ['DefaultStorageClass', 'ResourceQuota', 'storage is counted for its class'],
  ['PodSecurity', 'ResourceQuota', 'only what nobody refuses is charged'],
])('%s comes before %s: %s', (first, second) => {
  const names = plugins.map(({ name }) => name);
  expect(names.indexOf(first)).toBeLessThan(names.indexOf(second));
  expect(names).toContain(first);
});

it('by default runs the default ones', () => {
  const { chosen, missing } = chosenBy([]);
  expect(chosen.filter((name) => !defaultAdmissionPlugins.includes(name))).toEqual([]);
  expect([chosen.includes('ServiceAccount'), missing]).toEqual([true, []]);
});

it.each([
  { name: 'one more', enabled: ['AlwaysPullImages'], disabled: [], has: 'AlwaysPullImages', isOn: true, missing: [] },
  { name: 'one less', enabled: [], disabled: ['PodSecurity'], has: 'PodSecurity', isOn: false, missing: [] },
  {
    name: 'one that this server does not have',
    enabled: ['ValidatingAdmissionWebhook'],
    disabled: [],
    has: 'ValidatingAdmissionWebhook',
    isOn: false,
    missing: ['ValidatingAdmissionWebhook'],
  },
])('runs $name', ({ enabled, disabled, has, isOn, missing }) => {
  const outcome = chosenBy(enabled, disabled);
  expect([outcome.chosen.includes(has), outcome.missing]).toEqual([isOn, missing]);
});

it('Pods with all rights are refused by a flag, whatever the lists say', () => {
  const strict = builtInPlugins(pluginParts({ allowPrivileged: false }));
  const { chosen } = choosePlugins(strict, { enabledPlugins: [], disabledPlugins: [] });
  expect(chosen.map(({ name }) => name)).toContain('NoPrivilegedContainers');
});
