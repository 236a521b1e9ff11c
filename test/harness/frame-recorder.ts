import type { Chromium } from './chromium.js';

/** Records the time of each frame, and of each task that holds the page's thread for more than 50 ms. */
const record = `(() => {
  const frames = [];
  const long = [];
  const observer = new PerformanceObserver((list) => long.push(...list.getEntries().map((one) => one.duration)));
  observer.observe({ entryTypes: ['longtask'] });
  let last = performance.now();
  let isOn = true;
  const frame = (now) => {
    frames.push(now - last);
    last = now;
    if (isOn) requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  window.recorded = () => { isOn = false; observer.disconnect(); return { frames, long }; };
})()`;

/** Returns the times of the frames during the work, as text: they are printed, and depend on the machine. */
export async function frameTimes(browser: Chromium, work: () => Promise<void>): Promise<string> {
  // Otherwise the browser copies the bodies of requests, which is part of the frames.
  await browser.send('Network.disable');
  await browser.evaluate(record);
  await work();
  await browser.send('Network.enable');
  const { frames, long } = await browser.evaluate<{ frames: number[]; long: number[] }>('recorded()');
  frames.sort((a, b) => a - b);
  const at = (part: number) => frames[Math.floor(part * (frames.length - 1))]!.toFixed(1);
  return (
    `${frames.length} frames: p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms; ` +
    `${long.length} tasks over 50 ms`
  );
}
