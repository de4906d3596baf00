// prepublishOnly of every package: what lies in its folder points at sources; only what `pnpm pack` makes of it points at dist.
console.error(
  "refused: published from its folder, this package would point at its sources; run `pnpm release`, which publishes packed tarballs",
);
process.exit(1);
