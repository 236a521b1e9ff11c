import { systemClock, type Clock } from '../std/clock.js';
import { defaultCacheLimits, type CacheLimits } from './cache-limits.js';
import { Compressor } from './compressed-block.js';
import { PackedBytes, type Allocate } from './packed-bytes.js';
import { RenderingMemory } from './rendering-memory.js';
import type { Home, ObjectSlab, Resident } from './resident.js';

/**
 * Keeps the bytes of the cached objects of all resources, packed in slabs.
 *
 * If there are many, objects that nobody has read for one to two passes over all slabs leave memory: they are read again from
 * the store (ADR 077), or from a block with the compressed bytes of about five objects (ADR 080).
 */
export class ByteHome implements Home {
  readonly renderings = new RenderingMemory();
  private readonly objects: PackedBytes<Resident, Home>;
  /** The slabs that a pass has yet to visit. Of the first one, only the objects before `passAt`. */
  private pass: ObjectSlab[] = [];
  private passAt = Infinity;
  private nextPassMs = 0;
  private visitsPerTidy = 0;
  private compressor: Compressor | undefined;

  constructor(
    private readonly limits: Pick<CacheLimits, 'warmBytes' | 'coldPassMs'> = defaultCacheLimits,
    private readonly clock: Clock = systemClock,
    allocate?: Allocate,
    collect?: () => void,
  ) {
    const isLeaving = (slab: ObjectSlab) => this.pass.includes(slab) || (this.compressor?.isEmptying(slab) ?? false);
    this.objects = new PackedBytes<Resident, Home>(this, { allocate, collect, isLeaving });
  }

  /** Bytes of the objects, and of the slabs that are taken for them. */
  get size(): { readonly live: number; readonly taken: number } {
    return this.objects.size;
  }

  add(object: Resident): void {
    this.objects.add(object);
  }

  remove(object: Resident): void {
    this.objects.remove(object);
  }

  /** Lets go of what nobody reads. Called every few seconds. */
  tidy(nowMs: number): void {
    this.renderings.tick();
    this.dropCold(nowMs);
    this.compressor?.tidy(nowMs);
    this.objects.tidy(nowMs);
  }

  private dropCold(nowMs: number): void {
    const { warmBytes, coldPassMs } = this.limits;
    if (this.objects.size.live <= warmBytes) {
      this.pass = [];
      return;
    }
    if (this.pass.length === 0) {
      if (nowMs < this.nextPassMs) return;
      this.nextPassMs = nowMs + coldPassMs;
      this.pass = this.objects.allSlabs();
      this.compressor?.clear();
      this.passAt = Infinity;
      const residents = this.pass.reduce((sum, slab) => sum + slab.residents.length, 0);
      const visits = Math.ceil((residents * tidyMsMax) / coldPassMs);
      this.visitsPerTidy = Math.min(Math.max(visits, visitsPerTidyMin), visitsPerTidyMax);
    }
    for (let left = this.visitsPerTidy; left > 0;) {
      const slab = this.pass[0];
      if (!slab) return;
      // Backwards, since one that leaves is replaced by the last one.
      const from = Math.min(this.passAt, slab.residents.length);
      const to = Math.max(0, from - left);
      const cold: Resident[] = [];
      for (let at = from - 1; at >= to; at--) {
        const object = slab.residents[at]!;
        if (object.leaveIfCold()) cold.push(object);
      }
      if (cold.length > 0) (this.compressor ??= new Compressor(this, this.clock)).add(slab, cold);
      left -= from - to + 1;
      this.passAt = to;
      if (to > 0) continue;
      this.pass.shift();
      this.passAt = Infinity;
    }
  }
}

/** 8,000 visits take about 1 ms. A pass over more than 200,000 objects takes longer than coldPassMs. */
const visitsPerTidyMin = 8_000;
const visitsPerTidyMax = 64_000;
/** More than the time between two calls of tidy(), so that a pass over fewer objects is over within coldPassMs. */
const tidyMsMax = 6_000;
