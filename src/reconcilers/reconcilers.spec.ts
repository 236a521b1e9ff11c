import { switchableReconcilers } from '../config/reconciler-names.js';
import { defineReconciler, idle } from './reconciler.js';
import { builtInReconcilers, withReconcilers, type BuiltInReconciler } from './reconcilers.js';

const names = builtInReconcilers.map(({ name }) => String(name));
const always: string[] = builtInReconcilers.filter(({ runs }) => runs === 'always').map(({ name }) => name);

it('every reconciler is in the list once', () => {
  expect(names).toEqual([...new Set(names)]);
});

it('the list has all reconcilers of the table, and beside them those that always run', () => {
  expect(names.filter((name) => !always.includes(name)).sort()).toEqual(Object.keys(switchableReconcilers).sort());
});

it('those that always run are those that run on every server', () => {
  const everywhere = builtInReconcilers.filter(({ runsOn }) => runsOn === 'every server').map(({ name }) => name);
  expect(always).toEqual(everywhere);
});

it('a definition with another name or default than the table, or an unknown role, does not compile', () => {
  const definition = { runsOn: 'leader', start: () => idle } as const;
  const wrong: BuiltInReconciler[] = [
    // @ts-expect-error: the table has no such name
    defineReconciler({ ...definition, name: 'surplus-controller', runs: 'by default' }),
    // @ts-expect-error: the table has it as `by default`
    defineReconciler({ ...definition, name: 'namespace-controller', runs: 'if enabled' }),
    // @ts-expect-error: there is no such role
    defineReconciler({ ...definition, name: 'namespace-controller', runs: 'by default', role: 'namespaces' }),
  ];
  expect(wrong).toHaveLength(3);
});

it('reconcilers of an embedding program are added, with names of their own', () => {
  const named = (name: string) => defineReconciler({ name, runs: 'always', runsOn: 'leader', start: () => idle });
  expect(withReconcilers([named('own')]).at(-1)?.name).toBe('own');
  expect(() => withReconcilers([named('namespace-controller')])).toThrow('namespace-controller is defined twice');
});
