-- Programs that want one of camarb's cameras are linked to a node of their own (scripts/camarb.lua).
load_script("camarb.lua")
