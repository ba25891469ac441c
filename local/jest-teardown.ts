/** Jest's global tear-down: removes the cluster that jest-setup.ts started. */
export default async function tearDown(): Promise<void> {
  await globalThis.repriseTestCluster?.stop();
}
