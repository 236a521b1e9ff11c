import type { CustomResourceDefinition } from '../../catalog/types/apiextensions.v1.js';
import { namingProfile } from '../../config/naming-profile.js';
import { revisionOf } from '../../machinery/revision.js';
import { isEstablished } from '../../custom-kinds/definition-conditions.js';
import { SeededRng, type Rng } from '../../std/rng.js';
import { claimOf } from './claims.js';
import { statusAfter } from './decide.js';

/**
 * Simulates servers that read the log of one store with different delays and decide about definitions with the same names.
 * No two definitions are ever established under one name, and in the end every wanted name is accepted for one of them.
 */
interface State {
  readonly object: CustomResourceDefinition;
  readonly revision: number;
}
const naming = namingProfile('kubernetes');
const plurals = ['as', 'bs', 'cs', 'ds'];
const kinds = ['Alpha', 'Beta'];
const pick = <T>(rng: Rng, items: readonly T[]): T => items[rng.below(items.length)]!;

class World {
  private readonly log: State[] = [];
  /** Length of the log that each server has read. */
  private readonly seen = [0, 0, 0];

  constructor(private readonly rng: Rng) {}

  step(isCalm: boolean): boolean {
    const server = this.rng.below(this.seen.length);
    const unseen = this.log.length - this.seen[server]!;
    this.seen[server]! += isCalm ? unseen : this.rng.below(unseen + 1);
    if (!isCalm && this.rng.below(3) === 0) {
      this.interfere();
      return true;
    }
    return this.decide(server, pick(this.rng, plurals));
  }

  /** Returns the latest state of each definition in the first part of the log. */
  states(length = this.log.length): Map<string, State> {
    return new Map(this.log.slice(0, length).map((state) => [state.object.metadata.name!, state]));
  }

  /** A user creates a definition, wants another kind, or makes an unrelated change. */
  private interfere(): void {
    const plural = pick(this.rng, plurals);
    const kind = pick(this.rng, kinds);
    const current = this.states().get(plural)?.object;
    const names = { plural, singular: plural.slice(0, 1), kind, listKind: `${kind}List` };
    const isFixed = current && (isEstablished(current) || this.rng.below(2) === 0);
    this.write({
      ...(current ?? { kind: 'CustomResourceDefinition', apiVersion: 'apiextensions.k8s.io/v1' }),
      metadata: { name: plural },
      ...(!isFixed && { spec: { group: 'g.example.com', names } }),
    });
  }

  private decide(server: number, plural: string): boolean {
    const view = this.states(this.seen[server]);
    const state = view.get(plural);
    if (!state) return false;
    const revision = revisionOf(state.revision);
    const others = [...view.values()]
      .filter(({ object }) => object.metadata.name !== plural)
      .map((other) => claimOf(other.object, revisionOf(other.revision)));
    const status = statusAfter(state.object, { revision, others, structure: undefined, naming, now: 'now' });
    if (!status || this.states().get(plural)!.revision !== state.revision) return false;
    this.write({ ...state.object, status });
    return true;
  }

  private write(object: CustomResourceDefinition): void {
    this.log.push({ object, revision: this.log.length + 1 });
  }
}

const kindOf = ({ object }: State) => object.spec?.names?.kind ?? '';

const seeds = process.env['SEED'] ? [Number(process.env['SEED'])] : Array.from({ length: 60 }, (_, seed) => seed);
it('no two definitions are established under one kind, and every wanted kind is accepted in the end', () => {
  for (const seed of seeds) {
    const world = new World(new SeededRng(seed));
    const check = () => {
      const served = [...world.states().values()].filter(({ object }) => isEstablished(object)).map(kindOf);
      if (new Set(served).size < served.length) throw new Error(`seed ${seed}: ${served.join()} are served at once`);
      return served;
    };
    for (let step = 0; step < 150; step++) {
      world.step(false);
      check();
    }
    for (let idle = 0; idle < 100;) idle = world.step(true) ? 0 : idle + 1;
    const wanted = new Set([...world.states().values()].map(kindOf));
    expect([seed, check().sort()]).toEqual([seed, [...wanted].sort()]);
  }
});
