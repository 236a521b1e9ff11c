import type { Revision } from '../../../machinery/revision.js';
import type { Clock, Timer } from '../../../std/clock.js';
import type { View } from './embedded-file.js';

/** The position of the next page of a range. */
interface PagePlace {
  readonly revision: Revision;
  readonly prefix: string;
  readonly from: string;
}

interface OpenPage extends PagePlace {
  /** A snapshot at the revision, which is retained. */
  readonly view: View;
  /** The number of keys from `from` on, if they were counted. */
  readonly remaining: number | undefined;
}

/** LMDB cannot use pages again that a snapshot holds, so only few are held, and not for long. */
const pagesMax = 4;
const keptMs = 10_000;

/**
 * Snapshots for the next pages of ranges. A reader of many pages at one revision needs neither the history since then,
 * which would be searched for every page, nor another count of the remaining keys.
 */
export class OpenPages {
  private readonly pages = new Map<OpenPage, Timer>();
  private isClosed = false;

  constructor(private readonly clock: Clock) {}

  /** Returns the page that begins there, whose view the caller must release. */
  take({ revision, prefix, from }: PagePlace): OpenPage | undefined {
    for (const page of this.pages.keys()) {
      if (page.revision !== revision || page.from !== from || page.prefix !== prefix) continue;
      this.forget(page);
      return page;
    }
    return undefined;
  }

  /** Keeps a page for a while, and then releases its view. */
  keep(page: OpenPage): void {
    if (this.isClosed) return page.view.release();
    const oldest = this.pages.keys().next().value;
    if (oldest && this.pages.size >= pagesMax) this.drop(oldest);
    this.pages.set(
      page,
      this.clock.after(keptMs, () => this.drop(page)),
    );
  }

  close(): void {
    this.isClosed = true;
    for (const page of [...this.pages.keys()]) this.drop(page);
  }

  private drop(page: OpenPage): void {
    this.forget(page);
    page.view.release();
  }

  private forget(page: OpenPage): void {
    this.pages.get(page)?.cancel();
    this.pages.delete(page);
  }
}
