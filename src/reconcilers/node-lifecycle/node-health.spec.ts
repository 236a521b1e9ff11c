import { NodeHealth } from './node-health.js';

const health = () => new NodeHealth({ graceMs: 40, startupGraceMs: 60 });
const at = (nowMs: number, ageMs = 0) => ({ nowMs, ageMs });

it('a node is silent after the grace period without a new sign of life', () => {
  const nodes = health();
  nodes.observe('n', { heartbeat: 'a', renewed: 'x' }, at(100));
  expect([nodes.isSilent('n', 140), nodes.isSilent('n', 141)]).toEqual([false, true]);
  nodes.observe('n', { heartbeat: 'a', renewed: 'y' }, at(140));
  expect([nodes.isSilent('n', 180), nodes.isSilent('n', 181)]).toEqual([false, true]);
  nodes.observe('n', { heartbeat: 'b', renewed: 'y' }, at(180));
  expect(nodes.isSilent('n', 220)).toBe(false);
});

it('the remaining time ends with the grace period, and is infinite for a node that is not known', () => {
  const nodes = health();
  nodes.observe('n', { heartbeat: 'a', renewed: 'x' }, at(100));
  expect([nodes.remainingMs('n', 110), nodes.remainingMs('n', 145)]).toEqual([30, -5]);
  expect(nodes.remainingMs('other', 110)).toBe(Infinity);
});

it('times of the node need not grow: its clock may have been set back', () => {
  const nodes = health();
  nodes.observe('n', { heartbeat: '2026', renewed: undefined }, at(0));
  nodes.observe('n', { heartbeat: '2020', renewed: undefined }, at(30));
  expect(nodes.isSilent('n', 70)).toBe(false);
});

it('a node that never reported is silent after the longer grace period since its creation', () => {
  const nodes = health();
  nodes.observe('n', { heartbeat: undefined, renewed: undefined }, at(100, 20));
  expect([nodes.isSilent('n', 140), nodes.isSilent('n', 141)]).toEqual([false, true]);
});

it('a node that only renews its Lease is not silent', () => {
  const nodes = health();
  nodes.observe('n', { heartbeat: undefined, renewed: 'x' }, at(1000, 900));
  expect(nodes.isSilent('n', 1060)).toBe(false);
});

it('restart() begins the grace period of all nodes anew', () => {
  const nodes = health();
  nodes.observe('n', { heartbeat: 'a', renewed: undefined }, at(0));
  nodes.restart(100);
  expect([nodes.isSilent('n', 140), nodes.isSilent('n', 141)]).toEqual([false, true]);
});

it('an unknown node is not silent', () => {
  const nodes = health();
  nodes.observe('n', { heartbeat: 'a', renewed: undefined }, at(0));
  nodes.forget('n');
  expect(nodes.isSilent('n', 1000)).toBe(false);
});
