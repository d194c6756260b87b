/** How a sample looks: a picture, or a clip that plays, muted and in a loop, while it is pointed at or focused. */

import type { TargetedEvent } from "preact";

export interface MediaUrls {
  /** The picture, or a clip's first frame; null: the clip shows its own. */
  readonly image_url: string | null;
  /** null: it is a picture. */
  readonly clip_url: string | null;
}

export function Media({ sample, alt }: { sample: MediaUrls; alt: string }) {
  // A batch may have hundreds of pictures: those below the screen are loaded as they come near.
  if (sample.clip_url === null) return <img src={sample.image_url ?? ""} alt={alt} loading="lazy" decoding="async" />;
  return (
    <>
      <video
        src={sample.clip_url}
        poster={sample.image_url ?? undefined}
        preload={sample.image_url === null ? "metadata" : "none"}
        aria-label={alt || undefined}
        muted
        loop
        playsInline
      />
      <span class="clip-mark" aria-hidden="true">
        ▶
      </span>
    </>
  );
}

/** What a tile does with the clip in it; a tile that holds a picture does nothing. */
export const playsWhilePointedAt = {
  onPointerEnter: (event: TargetedEvent<HTMLElement>) => play(event),
  onFocus: (event: TargetedEvent<HTMLElement>) => play(event),
  onPointerLeave: (event: TargetedEvent<HTMLElement>) => rest(event),
  onBlur: (event: TargetedEvent<HTMLElement>) => rest(event),
};

function clipOf(event: TargetedEvent<HTMLElement>): HTMLVideoElement | null {
  return event.currentTarget.querySelector("video");
}

function play(event: TargetedEvent<HTMLElement>): void {
  // Refused where the clip is gone or the pointer left before it was loaded: the poster stays.
  clipOf(event)
    ?.play()
    .catch(() => undefined);
}

function rest(event: TargetedEvent<HTMLElement>): void {
  const clip = clipOf(event);
  clip?.pause();
  if (clip) clip.currentTime = 0;
}

/** A clip at full size, playing at once; its controls stop it. */
export function Player({ sample, alt }: { sample: MediaUrls; alt: string }) {
  if (sample.clip_url === null) return <img src={sample.image_url ?? ""} alt={alt} />;
  return (
    <video
      src={sample.clip_url}
      poster={sample.image_url ?? undefined}
      aria-label={alt}
      autoplay
      muted
      loop
      controls
      playsInline
    />
  );
}
