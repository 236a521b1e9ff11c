import type { KeyValue } from '../storage/kv-store.js';
import type { OtherKeysReport, Problem } from './check-report.js';
import { encryptionOf } from './encryption.js';

/**
 * Names that are counted separately; keys of further names share a line, since a writer may use any number of names.
 */
const namesMax = 500;
const moreNames = '(further names)';

/** Keys that kube-apiserver uses internally. */
const notes: Readonly<Record<string, string>> = {
  masterleases: 'addresses of running API servers',
  peerserverleases: 'addresses of running API servers',
  ranges: 'allocated cluster IPs and node ports',
};

interface Count {
  keys: number;
  encrypted: number;
  readonly problems: Problem[];
}

/** Counts the keys that belong to no known resource, by their first segments. Only an encrypted value is a problem. */
export class OtherKeys {
  private readonly counts = new Map<string, Count>();

  constructor(
    private readonly options: {
      /** The prefix of all keys: `/registry/`. */
      readonly root: string;
      readonly problemsMax: number;
      /** Names of the CustomResourceDefinitions that are stored: `widgets.shop.example.com`. */
      readonly definitions: ReadonlySet<string>;
    },
  ) {}

  /** Returns the problem of the value, if it has one. */
  take(item: KeyValue): Problem | undefined {
    const { key } = item;
    const count = this.countOf(this.nameOf(key));
    count.keys++;
    const reason = encryptionOf(item);
    if (reason === undefined) return undefined;
    count.encrypted++;
    const problem: Problem = { key, type: 'unreadable', reason };
    if (count.problems.length < this.options.problemsMax) count.problems.push(problem);
    return problem;
  }

  reports(): OtherKeysReport[] {
    return Array.from(this.counts, ([name, count]) => {
      const note = this.noteOf(name);
      return { name, ...(note !== undefined && { note }), ...count };
    });
  }

  /**
   * Returns the name under which a key is counted. Group names contain a dot and are followed by the resource:
   * `/registry/shop.example.com/widgets/…`.
   */
  private nameOf(key: string): string {
    const [first = '', second] = key.slice(this.options.root.length).split('/', 2);
    const name = first.includes('.') && second ? `${first}/${second}` : first;
    return name === '' ? '(no name)' : name;
  }

  private countOf(name: string): Count {
    const known = this.counts.get(name);
    if (known) return known;
    const counted = this.counts.size < namesMax ? name : moreNames;
    let count = this.counts.get(counted);
    if (!count) this.counts.set(counted, (count = { keys: 0, encrypted: 0, problems: [] }));
    return count;
  }

  private noteOf(name: string): string | undefined {
    const [group, plural] = name.split('/');
    if (plural === undefined) return Object.hasOwn(notes, name) ? notes[name] : undefined;
    return this.options.definitions.has(`${plural}.${group}`)
      ? 'the CustomResourceDefinition is not established, or cannot be read'
      : 'no CustomResourceDefinition has this resource';
  }
}
