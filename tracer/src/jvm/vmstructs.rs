//! Reads the tables by which HotSpot describes its own structures (`gHotSpotVMStructs`).
